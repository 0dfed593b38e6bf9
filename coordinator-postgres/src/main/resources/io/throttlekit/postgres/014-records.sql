-- Records that processes share. The name is a SHA-256 of the record's key; a row without a
-- record was not written yet, or its record was removed. A row may be deleted after kept_until_millis.
CREATE TABLE IF NOT EXISTS records (
  name bytea PRIMARY KEY,
  record bytea,
  kept_until_millis bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
