-- The server that wrote last (system identifier and timeline), and whether its commits waited for a
-- standby: a promoted standby has another timeline, and may lack rows of commits that did not wait.
ALTER TABLE counter_epoch ADD COLUMN IF NOT EXISTS history text NOT NULL DEFAULT '';
ALTER TABLE counter_epoch ADD COLUMN IF NOT EXISTS synchronous boolean NOT NULL DEFAULT false;
ALTER TABLE budget_epoch ADD COLUMN IF NOT EXISTS history text NOT NULL DEFAULT '';
ALTER TABLE budget_epoch ADD COLUMN IF NOT EXISTS synchronous boolean NOT NULL DEFAULT false;
