-- The answer to a sender's last call in the current window: its number, its units, and their position
-- in the state.
local function last_call(counter, window, sender)
  local state = state_of(counter)
  local start = state and unpack('<d', state)
  if start and now - start < window then
    for at = 17, #state, 24 do
      local from, number, units = unpack('<ddd', state, at)
      if from == sender then
        return number, units, at
      end
    end
  end
  return 0, 0
end

local function remember(counter, window, sender, number, units)
  local _, _, at = last_call(counter, window, sender)
  local state, record = draft[counter], pack('<ddd', sender, number, units)
  if state and at then
    draft[counter] = sub(state, 1, at - 1) .. record .. sub(state, at + 24)
  elseif state then
    draft[counter] = state .. record
  end
end

local function lease(flags, counter, cost, limit, window, extra)
  local admitted, left, reset = charge(flags, counter, cost, limit, window, extra)
  local granted = admitted and cost or left
  if not admitted and left > 0 then
    charge(flags, counter, left, limit, window, extra)
  end
  return granted, reset, admitted and left or 0
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
    state_of(counter)
    draft[counter] = false
  else
    local flags, counter, cost, limit, window, extra
    flags, counter, cost, limit, window, extra, position =
      unpack('<BHdddd', requests, position + 1)
    if kind == 0 then
      answer = packed(charge(flags, counter, cost, limit, window, extra))
    elseif kind == 1 then
      local granted, reset, left = lease(flags, counter, cost, limit, window, extra)
      answer = pack('<dddd', granted, now + reset, now, left)
    elseif kind == 5 then
      local sender, number
      sender, number, position = unpack('<dd', requests, position)
      local last, before = last_call(counter, window, sender)
      local granted, reset, left
      if last < number then
        granted, reset, left = lease(flags, counter, cost, limit, window, extra)
        remember(counter, window, sender, number, granted)
      else
        granted = last == number and before or -1
        local _
        _, left, reset = charge(flags - flags % 4 + COUNT, counter, 0, limit, window, extra)
      end
      answer = pack('<dddd', granted, now + reset, now, left)
    elseif kind == 6 then
      local charged_at, counts_to, sender, number
      charged_at, counts_to, sender, number, position = unpack('<dddd', requests, position)
      if last_call(counter, window, sender) < number then
        answer =
          packed(charge(flags, counter, -cost, limit, window, extra, counts_to, charged_at))
        remember(counter, window, sender, number, cost)
      else
        answer = packed(charge(flags - flags % 4 + COUNT, counter, 0, limit, window, extra))
      end
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
  if state ~= found[counter] then
    if state then
      call('SET', KEYS[counter], state, 'PX', lasts[counter] + EXPIRY_SLACK)
    else
      call('DEL', KEYS[counter])
    end
  end
end

answers[#answers + 1] = new_epoch
return table.concat(answers)
