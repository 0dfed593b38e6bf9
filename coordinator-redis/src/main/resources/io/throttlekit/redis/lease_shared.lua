-- Leases units of a budget to a tenant in a region: what it may take now, as if its units were charged
-- one by one.
--
-- ARGV[6], ARGV[10] and ARGV[11] as in lease_budget.lua; calls are kept with the tenant, and
--           forgotten if it is evicted: a repeated one then leases units that nobody uses
-- ARGV[12]  and the next five: the tenant
--
-- Reply: granted units, end of the current window, now, units left for the tenant, its limit.
local units, of = tonumber(ARGV[6]), tenant_from(12)
local sender, number = tonumber(ARGV[10]), tonumber(ARGV[11])
local pool = find_pool(requested_end) or begin_pool(requested_end)
local draft, tenant = {pool = pool}, tenant_of(pool, of.name)
local last, granted = last_call(is_seen(pool, tenant) and tenant.calls or '', sender)
if sender and last > number then
  return {new_epoch, -1, current, at, 0}
end
if not sender or last < number then
  granted = 0
  for _ = 1, 2 do -- its first charge may evict another one, which changes what it may take
    local _, _, left = fair_window(draft, 0, COUNT, nil, window, of)
    -- A tenant that gets nothing is active all the same, because it has requested units.
    local wanted = greater(1, lesser(units, left))
    local _, admitted = fair_window(draft, wanted, REFUSE, nil, window, of)
    if admitted or left == 0 then
      granted = admitted and wanted or 0
      break
    end
  end
  if sender then
    tenant.calls = with_call(tenant.calls, sender, number, granted)
    pool.changed = true
  end
end
local _, _, left, _, _, own_limit = fair_window(draft, 0, COUNT, nil, window, of)
local next_pool = find_pool(requested_end + window)
if next_pool then
  follow(next_pool, pool, of)
  write_pool(next_pool)
end
write_pool(pool)
call('HSET', row.key, 'end', digits(requested_end), 'leased', digits(pool.used),
  'current', digits(current))
expire_after(row.key, requested_end)
return {new_epoch, granted, current, at, left, own_limit}
