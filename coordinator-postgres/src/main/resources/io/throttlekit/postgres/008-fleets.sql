-- Concurrency limits that nodes divide. The name is a SHA-256 of the limit's key. The last steering
-- lease has a number (epoch), the node that holds it, and an end. A row may be deleted after
-- kept_until_millis, with its nodes.
CREATE TABLE IF NOT EXISTS fleets (
  name bytea PRIMARY KEY,
  concurrency_limit integer NOT NULL DEFAULT 0,
  epoch bigint NOT NULL DEFAULT 0,
  steering text,
  steering_incarnation bigint NOT NULL DEFAULT 0,
  steering_until_millis bigint NOT NULL DEFAULT 0,
  kept_until_millis bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

-- The nodes. Digests of samples wait for the steering node: each is five numbers, the number of its
-- latencies, and these.
CREATE TABLE IF NOT EXISTS fleet_nodes (
  fleet bytea NOT NULL REFERENCES fleets ON DELETE CASCADE,
  node text NOT NULL,
  incarnation bigint NOT NULL,
  local_limit integer NOT NULL,
  sampled boolean NOT NULL,
  in_flight integer NOT NULL,
  peak integer NOT NULL,
  waiting boolean NOT NULL,
  share integer NOT NULL,
  generation bigint NOT NULL,
  may_apply integer NOT NULL,
  sequence bigint NOT NULL,
  until_millis bigint NOT NULL,
  has_left boolean NOT NULL,
  digests bigint[],
  PRIMARY KEY (fleet, node, incarnation)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS fleet_epoch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  id uuid NOT NULL,
  begun_millis bigint NOT NULL,
  lost_millis bigint NOT NULL,
  history text NOT NULL DEFAULT '',
  synchronous boolean NOT NULL DEFAULT false
);
