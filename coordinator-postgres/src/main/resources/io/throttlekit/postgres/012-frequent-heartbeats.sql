-- Whether the steering node calls for frequent heartbeats of all nodes.
ALTER TABLE fleets ADD COLUMN IF NOT EXISTS frequent boolean NOT NULL DEFAULT false;
