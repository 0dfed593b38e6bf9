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
      local admitted, left, reset = charge(flags, counter, cost, limit, window, extra)
      local granted = admitted and cost or left
      if not admitted and left > 0 then
        charge(flags, counter, left, limit, window, extra)
      end
      answer = pack('<dddd', granted, now + reset, now, admitted and left or 0)
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

answers[#answers + 1] = told
return table.concat(answers)
