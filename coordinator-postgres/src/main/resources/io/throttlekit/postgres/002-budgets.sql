-- Budgets that regions share. Names are SHA-256 of keys.
CREATE TABLE parties (
  name bytea PRIMARY KEY,
  clock_millis bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

-- Each region's terms for a party's budgets (limit, window in ms, limit, …), and until when.
CREATE TABLE agreements (
  party bytea NOT NULL,
  region text NOT NULL,
  budgets bigint[] NOT NULL,
  until_millis bigint NOT NULL,
  PRIMARY KEY (party, region)
) WITH (fillfactor = 70);

CREATE INDEX agreements_until ON agreements (until_millis);

CREATE TABLE windows (
  budget bytea NOT NULL,
  window_end_millis bigint NOT NULL,
  leased bigint NOT NULL CHECK (leased >= 0),
  PRIMARY KEY (budget, window_end_millis)
) WITH (fillfactor = 70);

CREATE INDEX windows_end ON windows (window_end_millis);

-- Returns that were counted: SHA-256 of region and id.
CREATE TABLE returns (
  budget bytea NOT NULL,
  window_end_millis bigint NOT NULL,
  name bytea NOT NULL,
  PRIMARY KEY (budget, window_end_millis, name),
  FOREIGN KEY (budget, window_end_millis) REFERENCES windows ON DELETE CASCADE
);

CREATE TABLE budget_epoch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  id uuid NOT NULL,
  begun_millis bigint NOT NULL,
  lost_millis bigint NOT NULL
);
