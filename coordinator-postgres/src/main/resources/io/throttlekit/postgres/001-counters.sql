-- Counters of a region. The name is a SHA-256 of the counter's key; the state begins with the
-- version of its format. A row may be deleted after kept_until_millis, when the counter is unused.
CREATE /* PERSISTENCE */ TABLE counters (
  name bytea PRIMARY KEY,
  state bytea,
  kept_until_millis bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE INDEX counters_kept_until ON counters (kept_until_millis);

-- One row, as durable as the counters: another row than before shows that they were lost.
CREATE /* PERSISTENCE */ TABLE counter_epoch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  id uuid NOT NULL,
  begun_millis bigint NOT NULL,
  lost_millis bigint NOT NULL
);
