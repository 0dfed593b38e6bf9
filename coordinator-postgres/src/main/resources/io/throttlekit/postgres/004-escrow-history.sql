-- The start time of the server that stored the units. A restored backup, or a promoted standby that
-- lagged, is another server: its units may have been spent since.
ALTER TABLE escrow ADD COLUMN history timestamptz NOT NULL DEFAULT '-infinity';
