-- Releases of permits, which processes leave for each other. Only the processes that are known have
-- queues. Rows may be deleted after kept_until_millis.
CREATE TABLE IF NOT EXISTS release_processes (
  address text COLLATE "C" PRIMARY KEY,
  kept_until_millis bigint NOT NULL
) WITH (fillfactor = 50);

-- delivery is the transaction that returned the release last; null for none.
CREATE TABLE IF NOT EXISTS releases (
  address text COLLATE "C" NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  release text NOT NULL,
  kept_until_millis bigint NOT NULL,
  delivery bigint,
  PRIMARY KEY (address, number)
) WITH (fillfactor = 50);

CREATE INDEX IF NOT EXISTS releases_kept_until ON releases (kept_until_millis);
