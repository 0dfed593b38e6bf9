-- Decisions on a fixed window that tenants share, as FairPool and FairShares in memory. The state of
-- its counter is a draft: a pool after some charges of one request, which are undone one by one. A
-- copy of a pool would have all its tenants.

local function lesser(a, b)
  return a < b and a or b
end

local function greater(a, b)
  return a > b and a or b
end

-- The tenant of a charge, in the current window
local function current_tenant(pool, window, of)
  pool.window, pool.most = window, of.most
  trim(pool, of.most)
  roll(pool, window)
  return tenant_of(pool, of.name)
end

-- The parts that are left for a tenant if they are guaranteed: unlisted tenants do not use the reserve
-- of listed ones, or invented tenants could use it up one after the other.
local function free_for(pool, groups, division, of, weight)
  local left = of.limit * of.parts - pool.used
  return weight > 0 and left or left - reserve_of(pool, groups, division, of.parts, LISTED)
end

-- The parts that are left and in no reserve of others. `own` is the tenant's reserve.
local function unreserved_for(pool, groups, division, of, own)
  local reserve = reserve_of(pool, groups, division, of.parts, LISTED)
    + reserve_of(pool, groups, division, of.parts, UNLISTED)
  return greater(0, of.limit * of.parts - pool.used - (reserve - own))
end

-- Charges a tenant, which is active from now on. Returns the parts that were charged, whether it is
-- admitted, what remains and the limit.
local function charge_tenant(pool, tenant, of, cost, overrun)
  enter(pool, tenant, of.weight, of.most)
  local groups, before = pool.groups, tenant.used
  local division = divide(groups, of.limit, of.unlisted)
  local guarantee = of.parts * guarantee_of(groups, division, of.weight)
  local admitted, limit = false, greater(guarantee, before)
  if cost <= free_for(pool, groups, division, of, of.weight) then
    limit = guarantee
    if cost > guarantee - before then
      local unreserved = unreserved_for(pool, groups, division, of, greater(0, guarantee - before))
      limit = guarantee + lesser(before + cost - guarantee, lesser(cost, unreserved))
    end
    admitted = before + cost <= limit
  end
  local charged = (admitted or overrun ~= REFUSE) and lesser(cost, MAX - pool.used) or 0
  if charged > 0 then
    use(pool, tenant, charged)
  end
  if admitted then
    return charged, true, limit - before - cost, limit
  end
  return charged, false, greater(0, limit - before) - (overrun == REFUSE and 0 or cost), limit
end

-- The guarantee of a tenant, what it has used, and the largest cost that would be admitted, below 0 if
-- even 0 would not be: as if it sent a request now. Changes nothing.
local function state_of_tenant(pool, tenant, of)
  local groups, weight, used = pool.groups, tenant.weight, 0
  local seen, active = is_seen(pool, tenant), is_active(pool, tenant)
  if seen then
    used = tenant.used
  end
  if not active or weight ~= of.weight then
    groups = {}
    for each, group in pairs(pool.groups) do
      groups[each] = {
        seen = group.seen, carried = group.carried, guarantee = group.guarantee,
        high = group.high, low = group.low,
      }
    end
    if active then
      count(groups, weight, used, seen, -1)
    end
    count(groups, of.weight, used, true, 1)
    change_amount(pool, weight, used, -1)
    change_amount(pool, of.weight, used, 1)
  end
  local division = divide(groups, of.limit, of.unlisted)
  local guarantee = of.parts * guarantee_of(groups, division, of.weight)
  local available = -1
  if used <= guarantee then
    local own = guarantee - used
    available = lesser(free_for(pool, groups, division, of, of.weight),
      own + unreserved_for(pool, groups, division, of, own))
  end
  if groups ~= pool.groups then
    change_amount(pool, weight, used, 1)
    change_amount(pool, of.weight, used, -1)
  end
  return guarantee, used, available
end

-- Reads what a tenant could take in the smallest costs: a single cost could use what is reserved for
-- others, because it is compared with what is not reserved only by the part beyond the guarantee.
local function look(pool, tenant, of, overrun)
  local guarantee, used, available = state_of_tenant(pool, tenant, of)
  available = greater(0, available)
  local own = guarantee - used
  local remaining = 0
  if own >= 0 then
    -- With x left that others have not reserved, own + x are available: more than 2 * own if a part
    -- of x remains when this tenant has used its own.
    remaining = lesser(available, available > 2 * own and own + 1 or own)
  end
  local limit = greater(guarantee, used + remaining)
  if overrun == COUNT then
    return used <= limit, remaining, limit
  end
  return remaining > 0, remaining, limit
end

-- Of a pool, the parameter that only this algorithm has is the tenant with the terms.
local function fair_window(draft, cost, overrun, _, window, of, counts_to)
  local pool = draft.pool
  local tenant = current_tenant(pool, window, of)
  local until_end = pool.ends - now
  local charged, admitted, remaining, limit = 0, nil, nil, nil
  if cost > 0 then
    charged, admitted, remaining, limit = charge_tenant(pool, tenant, of, cost, overrun)
  else
    if cost < 0 and is_seen(pool, tenant) and (not counts_to or counts_to == pool.ends) then
      charged = greater(cost, -tenant.used)
      if charged ~= 0 then
        use(pool, tenant, charged)
      end
    end
    admitted, remaining, limit = look(pool, tenant, of, cost < 0 and COUNT or overrun)
    admitted = admitted or cost < 0
  end
  local retry = 0
  if not admitted then
    retry = greater(cost, 1) > of.limit * of.parts and NEVER or until_end
  end
  local next_draft = charged == 0 and draft
    or {pool = pool, before = draft, tenant = tenant, charged = charged}
  return next_draft, admitted, remaining, until_end, retry, limit
end

-- Undoes charges and refunds, the last one first, until the pool is as in an earlier draft. Tenants
-- stay active, because they have sent a request.
local function undo_until(draft, earlier)
  local pool = draft.pool
  while draft ~= earlier and draft.before do
    local tenant, charged = draft.tenant, draft.charged
    if is_seen(pool, tenant) then
      local own = lesser(charged, tenant.used)
      use(pool, tenant, -own)
      charged = charged - own
    end
    -- The rest is of a tenant that was evicted since, by another charge of the same request.
    pool.used = pool.used - lesser(charged, pool.used)
    draft = draft.before
  end
end
