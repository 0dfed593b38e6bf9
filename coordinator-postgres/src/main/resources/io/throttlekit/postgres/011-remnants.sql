-- How long requests of a node may last after its lease, in ms.
ALTER TABLE fleet_nodes ADD COLUMN IF NOT EXISTS permit_millis bigint NOT NULL DEFAULT 0;
