-- The tenants of a pool, with the order of Tenants in memory. Three keys of one hash slot:
--   the pool    a hash: 'pool' is d end of the window, d parts used in it, d the last place, d the
--               first place of this window, d the first place of the window before, d tenants
--               remembered; then for each weight d weight, d tenants seen in this window, d seen in
--               the window before only, and the sums over the former: d guarantee, d tenants that
--               have used more than it, d parts that the others have used.
--               't' and a tenant's name is d weight, d parts used, d place, and its last calls as
--               in fixed_window.lua. Parts and calls are those of the window of its place.
--   the order   a sorted set of tenants by place: places grow, and a tenant gets one when it is first
--               seen in a window. Those of listed tenants come after all others.
--   the amounts a sorted set without scores: big-endian d weight, d parts used, d place of each tenant
--               that has used something in this window, so the amounts of a weight are in their order.
--
-- Nothing is written before everything is decided: a pool, and the tenants that were read, are kept in
-- tables, and what Redis finds in the order and the amounts is corrected by them.

local LISTED_PLACES = 4503599627370496 -- 2^52
-- In place of parts: seen in the window before only. In place of a record: forgotten, though the pool
-- of that window has it. Both are used where the windows have pools of their own, see fair_budget.lua.
local EXPECTED, FORGOTTEN = -1, ''
local FOUND_AT_ONCE = 64
-- Of one charge: at least 2, so that tenants beyond a bound that was lowered become fewer with each new
-- one. In memory, a lease or refund evicts as many in each of its steps.
local MAX_EVICTED = 8

local function unreadable(key, why)
  error('the key ' .. string.gsub(sub(key, 1, 200), '[^ -~]', '?') .. ' has no data of a pool of tenants'
    .. (why or ''))
end

-- Calls a command on a key that may have another type: the error of Redis does not name the key.
local function call_on(command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) == 'table' and reply.err then
    if string.find(reply.err, 'WRONGTYPE', 1, true) then
      unreadable(key, ': WRONGTYPE')
    end
    return call(command, key, ...) -- fails again, with the reply that clients expect
  end
  return reply
end

-- Whether a number that is never negative was written as one: no NaN, and exact
local function is_number(number)
  return number >= 0 and number <= MAX
end

-- Reads a pool. One that is new replaces what an earlier one has left.
local function read_pool(key, order, amounts, is_new)
  local pool = {
    key = key, order = order, amounts = amounts,
    ends = -math.huge, used = 0, place = 0, first = 1, before = 1, size = 0,
    groups = {}, active = 0, window = 0, most = math.huge,
    tenants = {}, read = {}, -- by name, and in the order of reading
    changes = {}, -- by weight and amount: how many more tenants have used it than the amounts have
    -- the scores from which the oldest tenants are searched for
    from = {[LISTED] = LISTED_PLACES, [UNLISTED] = 0},
    entered = {[LISTED] = {}, [UNLISTED] = {}}, -- the tenants that got a place, with that place
    passed = {[LISTED] = 0, [UNLISTED] = 0}, -- how many of these have another one now
  }
  local state = not is_new and call_on('HGET', key, 'pool')
  pool.is_new = not state
  if state then
    if #state < 48 or fmod(#state, 48) ~= 0 then
      unreadable(key)
    end
    pool.ends, pool.used, pool.place, pool.first, pool.before, pool.size = unpack('<dddddd', state)
    for at = 49, #state, 48 do
      local weight, seen, carried, guarantee, high, low = unpack('<dddddd', state, at)
      local size = weight < 0 and -weight or weight
      if not (is_number(size) and weight ~= 0 and is_number(seen) and is_number(carried)) then
        unreadable(key)
      end
      pool.groups[weight] =
        {seen = seen, carried = carried, guarantee = guarantee, high = high, low = low}
      pool.active = pool.active + seen + carried
    end
  end
  return pool
end

-- The weight and the place of a tenant in the pool that this one inherits from, if it inherits it
local function inherited_by(pool, name)
  local inherits = pool.inherits
  local record = inherits and call('HGET', inherits.key, 't' .. name)
  if record and record ~= FORGOTTEN then
    local weight, used, place = unpack('<ddd', record)
    if used ~= EXPECTED and place <= inherits.last then
      return weight, place
    end
  end
end

local function tenant_of(pool, name)
  local tenant = pool.tenants[name]
  if not tenant then
    tenant = {name = name, used = 0, calls = ''}
    local record = not pool.is_new and call('HGET', pool.key, 't' .. name)
    local weight, place = nil, nil
    if not record then
      weight, place = inherited_by(pool, name)
    end
    if record then
      tenant.found = record
    end
    if record and record ~= FORGOTTEN then
      tenant.weight, tenant.used, tenant.place = unpack('<ddd', record)
      tenant.calls = sub(record, 25)
      tenant.found_weight, tenant.found_used, tenant.found_place =
        tenant.weight, tenant.used, tenant.place
      if tenant.used == EXPECTED then
        tenant.used, tenant.is_expected = 0, true
      end
    elseif weight then
      tenant.weight, tenant.place, tenant.is_inherited = weight, place - LISTED_PLACES, true
    end
    pool.tenants[name] = tenant
    pool.read[#pool.read + 1] = tenant
  end
  return tenant
end

local function is_seen(pool, tenant)
  return tenant.place and tenant.place >= pool.first and not tenant.is_expected
end

local function is_active(pool, tenant)
  return tenant.place and tenant.place >= pool.before
end

local function count_used(group, used, change)
  if used > group.guarantee then
    group.high = group.high + change
  else
    group.low = group.low + change * used
  end
end

-- Adds a tenant to the sums of its weight, or with -1 takes it out
local function count(groups, weight, used, seen, change)
  local group = groups[weight]
  if not group then
    group = {seen = 0, carried = 0, guarantee = 0, high = 0, low = 0}
    groups[weight] = group
  end
  if seen then
    group.seen = group.seen + change
    count_used(group, used, change)
  else
    group.carried = group.carried + change
  end
  if group.seen + group.carried == 0 then
    groups[weight] = nil
  end
end

local function change_amount(pool, weight, used, change)
  if used > 0 then
    local changes = pool.changes[weight] or {}
    pool.changes[weight] = changes
    changes[used] = (changes[used] or 0) + change
  end
end

local function use(pool, tenant, parts)
  local group = pool.groups[tenant.weight]
  count_used(group, tenant.used, -1)
  change_amount(pool, tenant.weight, tenant.used, -1)
  tenant.used = tenant.used + parts
  count_used(group, tenant.used, 1)
  change_amount(pool, tenant.weight, tenant.used, 1)
  pool.used = pool.used + parts
  pool.changed = true
end

local function take_out(pool, tenant)
  if is_active(pool, tenant) then
    local seen = is_seen(pool, tenant)
    count(pool.groups, tenant.weight, tenant.used, seen, -1)
    if seen then
      change_amount(pool, tenant.weight, tenant.used, -1)
    end
    pool.active = pool.active - 1
  end
end

local function forget(pool, tenant)
  if not tenant.place then
    return
  end
  take_out(pool, tenant)
  tenant.weight, tenant.used, tenant.place, tenant.calls = nil, 0, nil, ''
  tenant.is_expected = nil
  pool.size = pool.size - 1
  pool.changed = true
end

local function score_of(weight, place)
  return weight > 0 and LISTED_PLACES + place or place
end

-- Forgets a tenant, and what it has used
local function reset_tenant(pool, tenant)
  if is_seen(pool, tenant) then
    pool.used = pool.used - tenant.used
  end
  forget(pool, tenant)
end

-- The first tenant of an order whose place is still what `offset` makes of its score. Moves the score
-- from which a class is searched.
local function first_of(pool, order, search, class, last, offset)
  while search[class] and search[class] <= last do
    local found =
      call_on('ZRANGEBYSCORE', order, search[class], last, 'WITHSCORES', 'LIMIT', 0, 1)
    local score = tonumber(found[2])
    search[class] = score and score + 1
    local tenant = score and tenant_of(pool, found[1])
    if tenant and tenant.place == score - offset then
      return tenant
    end -- else it has moved since
  end
end

-- The oldest active tenant of a class
local function oldest(pool, class)
  local first, inherits = class == LISTED and LISTED_PLACES or 0, pool.inherits
  local tenant = inherits and first_of(pool, inherits.order, inherits.from, class,
    first + inherits.last, first + LISTED_PLACES)
  if not tenant and not pool.is_new then
    local from = pool.from[class]
    pool.from[class] = from and from < first + pool.before and first + pool.before or from
    tenant = first_of(pool, pool.order, pool.from, class, first + LISTED_PLACES - 1, first)
  end
  if tenant then
    return tenant
  end
  local entered = pool.entered[class]
  for i = pool.passed[class] + 1, #entered do
    if entered[i].tenant.place == entered[i].place then
      return entered[i].tenant
    end
    pool.passed[class] = i
  end
end

-- Evicts active tenants until at most so many are left, or MAX_EVICTED: unlisted ones first. Inactive ones, which are
-- evicted before them in memory, have no effect and are forgotten when the pool is stored.
local function trim(pool, most)
  for _ = 1, MAX_EVICTED do
    if pool.active <= most then
      break
    end
    local tenant = oldest(pool, UNLISTED) or oldest(pool, LISTED)
    if not tenant then
      break -- Redis has evicted a key of the pool
    end
    forget(pool, tenant)
  end
end

-- Begins the window of this time, if it is later than the current one
local function roll(pool, window)
  if now < pool.ends then
    return
  end
  local ends = now - fmod(now, window) + window
  local follows = ends - window == pool.ends
  pool.active = 0
  for weight, group in pairs(pool.groups) do
    group.carried = follows and group.seen or 0
    group.seen, group.high, group.low = 0, 0, 0
    pool.active = pool.active + group.carried
    if group.carried == 0 then
      pool.groups[weight] = nil
    end
  end
  pool.before = follows and pool.first or pool.place + 1
  pool.first = pool.place + 1
  pool.ends, pool.used, pool.changes = ends, 0, {}
  pool.rolled = true
end

-- Makes a tenant one that is seen in this window
local function enter(pool, tenant, weight, most)
  local seen = is_seen(pool, tenant)
  if seen and tenant.weight == weight then
    return
  end
  if not is_active(pool, tenant) then
    trim(pool, most - 1)
  end
  pool.size = tenant.place and pool.size or pool.size + 1
  take_out(pool, tenant)
  pool.place = pool.place + 1
  tenant.weight, tenant.place, tenant.is_expected = weight, pool.place, nil
  if not seen then
    tenant.used, tenant.calls = 0, ''
  end
  count(pool.groups, weight, tenant.used, true, 1)
  change_amount(pool, weight, tenant.used, 1)
  pool.active = pool.active + 1
  local entered = pool.entered[weight > 0 and LISTED or UNLISTED]
  entered[#entered + 1] = {tenant = tenant, place = pool.place}
  pool.changed = true
end

-- How many tenants of a weight have used more than `low` and at most `high`, and how much
local function between(pool, weight, low, high)
  local tenants, sum = 0, 0
  if not pool.is_new and not pool.rolled then
    local from = '(' .. pack('>dd', weight, low) .. '\255'
    local to = '[' .. pack('>dd', weight, high) .. '\255'
    repeat
      local found = call_on('ZRANGEBYLEX', pool.amounts, from, to, 'LIMIT', 0, FOUND_AT_ONCE)
      local amount
      for i = 1, #found do
        amount = unpack('>d', found[i], 9)
        sum = sum + amount
      end
      tenants = tenants + #found
      if #found == FOUND_AT_ONCE then -- any number of tenants may have used the same amount
        local all_of_amount = pack('>dd', weight, amount) .. '\255'
        local others =
          call('ZLEXCOUNT', pool.amounts, '(' .. found[#found], '[' .. all_of_amount)
        tenants, sum = tenants + others, sum + others * amount
        from = '(' .. all_of_amount
      end
    until #found < FOUND_AT_ONCE
  end
  for amount, change in pairs(pool.changes[weight] or {}) do
    if amount > low and amount <= high then
      tenants, sum = tenants + change, sum + change * amount
    end
  end
  return tenants, sum
end

-- What the tenants of a class have not used of their guarantees, in parts
local function reserve_of(pool, groups, division, parts, class)
  local reserve = 0
  for weight, group in pairs(groups) do
    if weight * class > 0 then
      local guarantee, before = parts * guarantee_of(groups, division, weight), group.guarantee
      if guarantee < before and group.low > 0 then
        local tenants, sum = between(pool, weight, guarantee, before)
        group.high, group.low = group.high + tenants, group.low - sum
        pool.changed = true -- so that it is not computed again
      elseif guarantee > before and group.high > 0 then
        local tenants, sum = between(pool, weight, before, guarantee)
        group.high, group.low = group.high - tenants, group.low + sum
        pool.changed = true
      end
      group.guarantee = guarantee
      reserve = reserve + (group.seen + group.carried - group.high) * guarantee - group.low
    end
  end
  return reserve
end
