-- Tenants that share a counter, whose state has sums over them. The name is a SHA-256 of the tenant's
-- key; place is its place in the order in which tenants are evicted. A tenant is active if it was
-- seen in the counter's window, or in the one before; what it has used in that one does not count.
-- A row may be deleted after kept_until_millis.
CREATE /* PERSISTENCE */ TABLE IF NOT EXISTS tenants (
  pool bytea NOT NULL,
  name bytea NOT NULL,
  weight bigint NOT NULL,
  listed boolean NOT NULL,
  window_end_millis bigint NOT NULL,
  used bigint NOT NULL,
  place bigint NOT NULL,
  kept_until_millis bigint NOT NULL,
  PRIMARY KEY (pool, name)
) WITH (fillfactor = 70);

-- When guarantees change, sums change by the tenants between the old and the new one. Indexes are of
-- one expression, so that no other index can be chosen for the same query while a table has no
-- statistics.
CREATE INDEX IF NOT EXISTS tenants_used ON tenants
  ((pool || int8send(window_end_millis) || boolsend(listed) || int8send(weight) || int8send(used)));
CREATE INDEX IF NOT EXISTS tenants_place ON tenants
  ((pool || boolsend(listed) || int8send(window_end_millis) || int8send(place)));
CREATE INDEX IF NOT EXISTS tenants_kept_until ON tenants (kept_until_millis);

-- The same for budgets, each of whose windows has a pool of its own: its name is the budget's,
-- followed by the end of the window. Tenants that were seen in the window before have a row there,
-- and one here once they have changed.
CREATE TABLE IF NOT EXISTS budget_pools (
  budget bytea NOT NULL,
  window_end_millis bigint NOT NULL,
  state bytea NOT NULL,
  kept_until_millis bigint NOT NULL,
  PRIMARY KEY (budget, window_end_millis)
) WITH (fillfactor = 70);

CREATE INDEX IF NOT EXISTS budget_pools_kept_until ON budget_pools (kept_until_millis);

CREATE TABLE IF NOT EXISTS budget_tenants (
  pool bytea NOT NULL,
  name bytea NOT NULL,
  weight bigint NOT NULL,
  listed boolean NOT NULL,
  window_end_millis bigint NOT NULL,
  used bigint NOT NULL,
  place bigint NOT NULL,
  kept_until_millis bigint NOT NULL,
  PRIMARY KEY (pool, name)
) WITH (fillfactor = 70);

CREATE INDEX IF NOT EXISTS budget_tenants_used ON budget_tenants
  ((pool || int8send(window_end_millis) || boolsend(listed) || int8send(weight) || int8send(used)));
CREATE INDEX IF NOT EXISTS budget_tenants_place ON budget_tenants
  ((pool || boolsend(listed) || int8send(place)));
CREATE INDEX IF NOT EXISTS budget_tenants_kept_until ON budget_tenants (kept_until_millis);
