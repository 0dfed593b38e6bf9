-- The answers to calls in the current window: sender, number and units of the last call of each
local function calls_of(flags, counter, window, extra)
  local state = state_of(counter, flags)
  if is_shared(flags) then
    local tenant = current_tenant(state.pool, window, extra)
    return is_seen(state.pool, tenant) and tenant.calls or ''
  end
  local start = state and unpack('<d', state)
  return start and now - start < window and sub(state, 17) or ''
end

local function remember(flags, counter, window, extra, sender, number, units)
  local calls = calls_of(flags, counter, window, extra)
  calls = with_call(calls, sender, number, units)
  local state = draft[counter]
  if is_shared(flags) then
    local tenant = tenant_of(state.pool, extra.name)
    if is_seen(state.pool, tenant) then
      tenant.calls = calls
      state.pool.changed = true
    end
  elseif state then
    draft[counter] = sub(state, 1, 16) .. calls
  end
end

-- Grants what a tenant may take now, as if its units were charged one by one
local function lease_to_tenant(flags, counter, cost, limit, window, tenant)
  local looks = flags - flags % 4 + COUNT
  local granted = 0
  for _ = 1, 2 do -- its first charge may evict another one, which changes what it may take
    local _, left = charge(looks, counter, 0, limit, window, tenant)
    -- A tenant that gets nothing is active all the same, because it has requested units.
    local wanted = greater(1, lesser(cost, left))
    local admitted = charge(flags, counter, wanted, limit, window, tenant)
    if admitted or left == 0 then
      granted = admitted and wanted or 0
      break
    end
  end
  local _, left, reset, _, own_limit = charge(looks, counter, 0, limit, window, tenant)
  return granted, reset, left, own_limit
end

local function lease(flags, counter, cost, limit, window, extra)
  if is_shared(flags) then
    return lease_to_tenant(flags, counter, cost, limit, window, extra)
  end
  local admitted, left, reset = charge(flags, counter, cost, limit, window, extra)
  local granted = admitted and cost or left
  if not admitted and left > 0 then
    charge(flags, counter, left, limit, window, extra)
  end
  return granted, reset, admitted and left or 0
end

local function leased(granted, reset, left, own_limit)
  local answer = pack('<dddd', granted, now + reset, now, left)
  return own_limit and answer .. pack('<d', own_limit) or answer
end

local answers = {}
while position <= #requests do
  local kind = byte(requests, position)
  local answer
  if kind == 4 then
    local refused, claims
    refused, claims, position = unpack('<BH', requests, position + 1)
    answer = settle(claims, refused == 1) .. pack('<d', now)
  elseif kind == 3 then
    local counter
    counter, position = unpack('<H', requests, position + 1)
    found[counter], draft[counter], lasts[counter], pools[counter] = true, false, 0, nil
  else
    position = position + 1
    local flags, counter, cost, limit, window, extra = next_charge()
    if kind == 0 then
      answer = packed(charge(flags, counter, cost, limit, window, extra))
    elseif kind == 1 then
      answer = leased(lease(flags, counter, cost, limit, window, extra))
    elseif kind == 5 then
      local sender, number
      sender, number, position = unpack('<dd', requests, position)
      local last, before = last_call(calls_of(flags, counter, window, extra), sender)
      if last < number then
        local granted, reset, left, own_limit =
          lease(flags, counter, cost, limit, window, extra)
        remember(flags, counter, window, extra, sender, number, granted)
        answer = leased(granted, reset, left, own_limit)
      else
        local _, left, reset, _, own_limit =
          charge(flags - flags % 4 + COUNT, counter, 0, limit, window, extra)
        answer = leased(last == number and before or -1, reset, left, own_limit)
      end
    elseif kind == 6 then
      local charged_at, counts_to, sender, number
      charged_at, counts_to, sender, number, position = unpack('<dddd', requests, position)
      if last_call(calls_of(flags, counter, window, extra), sender) < number then
        answer =
          packed(charge(flags, counter, -cost, limit, window, extra, counts_to, charged_at))
        remember(flags, counter, window, extra, sender, number, cost)
      else
        answer = packed(charge(flags - flags % 4 + COUNT, counter, 0, limit, window, extra))
      end
    elseif kind == 7 then
      local pool = state_of(counter, flags).pool
      reset_tenant(pool, tenant_of(pool, extra.name))
    else
      local charged_at, counts_to
      charged_at, counts_to, position = unpack('<dd', requests, position)
      answer =
        packed(charge(flags, counter, -cost, limit, window, extra, counts_to, charged_at))
    end
  end
  if answer then
    answers[#answers + 1] = answer
  end
end

for counter, state in pairs(draft) do
  if pools[counter] then
    if found[counter] then -- it was reset before
      call('DEL', KEYS[counter])
    end
    write_pool(pools[counter])
  elseif state ~= found[counter] then
    if state then
      call('SET', KEYS[counter], state, 'PX', lasts[counter] + EXPIRY_SLACK)
    else
      call('DEL', KEYS[counter])
    end
  end
end

answers[#answers + 1] = new_epoch
return table.concat(answers)
