-- State: start of the window, units used in it, and the answers to calls that may be repeated:
-- sender, number, units of the last call of each
local function fixed_window(state, cost, overrun, limit, window, _, counts_to)
  local start, used
  local calls = ''
  if state then
    start, used = unpack('<dd', state)
    calls = sub(state, 17)
  end
  if not start or now - start >= window then
    start, used, calls = now - fmod(now, window), 0, ''
  end
  local until_end = window - (now - start)
  if cost < 0 then
    local gone = counts_to and counts_to ~= now + until_end
    local kept = gone and used or used + cost
    kept = kept < 0 and 0 or kept
    local left = limit - kept
    return kept ~= used and pack('<dd', start, kept) .. calls or state, true, left < 0 and 0 or left,
      until_end, 0
  end
  local left = limit - used
  local needed = needed_of(cost, overrun)
  if needed <= left then
    return cost ~= 0 and pack('<dd', start, used + cost) .. calls or state, true, left - cost, until_end, 0
  end
  local retry = needed > limit and NEVER or until_end
  left = left < 0 and 0 or left
  if cost == 0 or overrun == REFUSE then
    return state, false, left, until_end, retry
  end
  return pack('<dd', start, capped(used + cost)) .. calls, false, left - cost, until_end, retry
end
