-- Units that a region has leased and its processes share. A window is named by its end by the
-- coordinator's clock; begins_millis and ends_millis are by this server's clock.
CREATE TABLE escrow (
  counter bytea NOT NULL,
  window_end_millis bigint NOT NULL,
  units bigint NOT NULL CHECK (units >= 0),
  begins_millis bigint NOT NULL,
  ends_millis bigint NOT NULL,
  PRIMARY KEY (counter, window_end_millis)
) WITH (fillfactor = 70);

CREATE INDEX escrow_ends ON escrow (ends_millis);

-- Refills that were counted: SHA-256 of the id.
CREATE TABLE refills (
  counter bytea NOT NULL,
  window_end_millis bigint NOT NULL,
  name bytea NOT NULL,
  PRIMARY KEY (counter, window_end_millis, name),
  FOREIGN KEY (counter, window_end_millis) REFERENCES escrow ON DELETE CASCADE
);
