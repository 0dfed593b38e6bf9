-- The pools of a budget that tenants share: one for each of the last, the current and the next window,
-- because the next one can be leased before the current one ends, and each needs the tenants of the one
-- before.
--
-- KEYS[6]   and the next eight: three keys for each of them, as in fair_pool.lua
--
-- A pool inherits the tenants that were seen in the one before until then: their weights are summed, and
-- their records stay there. Its hash has 'inherits': d the last place of them, and for listed and
-- unlisted ones d the score from which the oldest one is searched for. Tenants that are seen in the
-- window before after that are added one by one, as expected ones.

local function keys_of_pool(ends)
  local first = 6 + 3 * fmod(ends / window, 3)
  return KEYS[first], KEYS[first + 1], KEYS[first + 2]
end

local function inherit(pool, last, listed, unlisted)
  local key, order = keys_of_pool(pool.ends - window)
  pool.before = -LISTED_PLACES
  pool.inherits =
    {key = key, order = order, last = last, from = {[LISTED] = listed, [UNLISTED] = unlisted}}
end

-- Reads the pool of a window, named by its end; nil if there is none
local function find_pool(ends)
  local key, order, amounts = keys_of_pool(ends)
  local pool = read_pool(key, order, amounts)
  if pool.ends == ends then
    local inherits = call('HGET', key, 'inherits')
    if inherits then
      inherit(pool, unpack('<ddd', inherits))
    end
    return pool
  end
end

local function begin_pool(ends)
  local key, order, amounts = keys_of_pool(ends)
  local pool = read_pool(key, order, amounts, true)
  pool.ends = ends
  local earlier = find_pool(ends - window)
  if earlier then
    for weight, group in pairs(earlier.groups) do
      if group.seen > 0 then
        pool.groups[weight] = {seen = 0, carried = group.seen, guarantee = 0, high = 0, low = 0}
        pool.active = pool.active + group.seen
      end
    end
    pool.size = pool.active
    inherit(pool, earlier.place, LISTED_PLACES, 0)
  end
  return pool
end

-- Makes a tenant active, unless it is, as one that was seen in the window before
local function expect(pool, tenant, weight, most)
  if is_active(pool, tenant) and (is_seen(pool, tenant) or tenant.weight == weight) then
    return
  end
  forget(pool, tenant)
  trim(pool, most - 1)
  pool.place = pool.place + 1
  tenant.weight, tenant.place, tenant.is_expected = weight, pool.place, true
  count(pool.groups, weight, 0, false, 1)
  pool.active, pool.size = pool.active + 1, pool.size + 1
  local entered = pool.entered[weight > 0 and LISTED or UNLISTED]
  entered[#entered + 1] = {tenant = tenant, place = pool.place}
  pool.changed = true
end

-- A pool after a lease from the window before: it expects that tenant, and none that was evicted there.
-- Called before that pool is written.
local function follow(pool, earlier, of)
  pool.window, pool.most = window, of.most
  for i = 1, #earlier.read do
    local tenant = earlier.read[i]
    if tenant.found and not tenant.place then
      local inherited = tenant_of(pool, tenant.name)
      if inherited.place and inherited.place < 0 then
        forget(pool, inherited)
      end
    end
  end
  expect(pool, tenant_of(pool, of.name), of.weight, of.most)
end

-- The tenant of a call, with its terms: the arguments from `at` on
local function tenant_from(at)
  return {
    weight = tonumber(ARGV[at]), -- below 0 if it is not listed
    limit = tonumber(ARGV[at + 1]),
    parts = tonumber(ARGV[at + 2]),
    unlisted = tonumber(ARGV[at + 3]), -- millionths
    most = tonumber(ARGV[at + 4]),
    name = ARGV[at + 5],
  }
end
