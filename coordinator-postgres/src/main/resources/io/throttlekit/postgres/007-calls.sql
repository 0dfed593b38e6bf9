-- The answer to each sender's last call, so that a repeated call takes effect once: the end of the
-- window, then sender, number and units of each call. Kept until the row or its window ends.
ALTER TABLE counters ADD COLUMN IF NOT EXISTS calls bigint[];
ALTER TABLE windows ADD COLUMN IF NOT EXISTS calls bigint[];
ALTER TABLE escrow ADD COLUMN IF NOT EXISTS calls bigint[];
