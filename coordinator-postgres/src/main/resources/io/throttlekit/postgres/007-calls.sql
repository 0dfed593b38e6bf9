-- What the last call of each sender was answered, so that one that is sent again takes effect once:
-- the end of the window, then sender, number and units of each. It ends with the row, or its window.
ALTER TABLE counters ADD COLUMN IF NOT EXISTS calls bigint[];
ALTER TABLE windows ADD COLUMN IF NOT EXISTS calls bigint[];
ALTER TABLE escrow ADD COLUMN IF NOT EXISTS calls bigint[];
