-- Writes what has changed of a pool.

local ARGUMENTS_AT_ONCE = 1000 -- even, for pairs; Lua cannot unpack 8,000

local function call_with_all(command, key, arguments)
  for i = 1, #arguments, ARGUMENTS_AT_ONCE do
    local last = i + ARGUMENTS_AT_ONCE - 1
    call_on(command, key, values(arguments, i, last < #arguments and last or #arguments))
  end
end

-- Forgets tenants that are not active: twice as many as have entered, because all at once would take
-- long
local function forget_inactive(pool)
  local most = 2 * (#pool.entered[LISTED] + #pool.entered[UNLISTED])
  local beyond = pool.size - pool.most
  beyond = beyond < MAX_EVICTED and beyond or MAX_EVICTED
  most = beyond > most and beyond or most
  for _, first in ipairs({0, LISTED_PLACES}) do
    if pool.size > pool.active and most > 0 then
      local names = call_on('ZRANGEBYSCORE', pool.order, first, first + pool.before - 1,
        'LIMIT', 0, most)
      local fields = {}
      for i = 1, #names do
        fields[i] = 't' .. names[i]
      end
      call_with_all('ZREM', pool.order, names)
      call_with_all('HDEL', pool.key, fields)
      pool.size = pool.size - #names
      most = most - #names
    end
  end
end

local function amount_of(weight, used, place)
  return used > 0 and pack('>ddd', weight, used, place) or nil
end

-- Writes what has changed
local function write_pool(pool)
  if not pool.changed then
    return
  end
  if pool.is_new then
    call('UNLINK', pool.key, pool.order, pool.amounts)
  elseif pool.rolled then
    call('UNLINK', pool.amounts)
  end
  local records, forgotten, places, left, amounts, outdated = {}, {}, {}, {}, {}, {}
  for i = 1, #pool.read do
    local tenant = pool.read[i]
    local name, weight, used, place = tenant.name, tenant.weight, tenant.used, tenant.place
    local record
    if place and place > 0 then
      record = pack('<ddd', weight, tenant.is_expected and EXPECTED or used, place) .. tenant.calls
    elseif not place and (tenant.is_inherited or tenant.found and inherited_by(pool, name)) then
      record = FORGOTTEN -- or it would be inherited again
    end
    if record ~= tenant.found then
      if record then
        records[#records + 1], records[#records + 2] = 't' .. name, record
      else
        forgotten[#forgotten + 1] = 't' .. name
      end
      if not place then
        left[#left + 1] = tenant.found_place and name
      elseif place ~= tenant.found_place then
        places[#places + 1], places[#places + 2] = score_of(weight, place), name
      end
      local is = is_seen(pool, tenant) and amount_of(weight, used, place)
      local was = tenant.found_place and tenant.found_place >= pool.first
        and amount_of(tenant.found_weight, tenant.found_used, tenant.found_place)
      if was and was ~= is then
        outdated[#outdated + 1] = was
      end
      if is and was ~= is then
        amounts[#amounts + 1], amounts[#amounts + 2] = 0, is
      end
    end
  end
  call_with_all('ZREM', pool.order, left)
  call_with_all('ZADD', pool.order, places)
  call_with_all('ZREM', pool.amounts, outdated)
  call_with_all('ZADD', pool.amounts, amounts)
  call_with_all('HDEL', pool.key, forgotten)
  forget_inactive(pool)
  local state = {
    pack('<dddddd', pool.ends, pool.used, pool.place, pool.first, pool.before, pool.size),
  }
  for weight, group in pairs(pool.groups) do
    state[#state + 1] = pack('<dddddd', weight, group.seen, group.carried, group.guarantee,
      group.high, group.low)
  end
  records[#records + 1], records[#records + 2] = 'pool', table.concat(state)
  local inherits = pool.inherits
  if inherits then
    local listed, unlisted = inherits.from[LISTED], inherits.from[UNLISTED] -- nil after the last one
    records[#records + 1], records[#records + 2] = 'inherits',
      pack('<ddd', inherits.last, listed or math.huge, unlisted or math.huge)
  end
  call_with_all('HSET', pool.key, records)
  -- Tenants of this window have their reserve until the end of the next one.
  local lasts = pool.ends - now + pool.window + EXPIRY_SLACK
  if pool.is_new or pool.rolled then
    call('PEXPIRE', pool.key, lasts)
  end
  if #places > 0 then
    call('PEXPIRE', pool.order, lasts)
  end
  if #amounts > 0 then
    call('PEXPIRE', pool.amounts, lasts)
  end
end
