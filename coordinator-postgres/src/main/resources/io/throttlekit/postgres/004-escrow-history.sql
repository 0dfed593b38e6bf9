-- When the server that took units in began. A backup that is restored, or a standby that lagged and is
-- promoted, is another server: what it holds may have been spent since.
ALTER TABLE escrow ADD COLUMN history timestamptz NOT NULL DEFAULT '-infinity';
