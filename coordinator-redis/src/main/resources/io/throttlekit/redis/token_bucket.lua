-- State: tokens times window, their time, and what refills them
local function token_bucket(state, cost, overrun, refill, window, capacity, _, charged_at)
  local full = capacity * window
  local level, at, pace = full, now, refill
  if state then
    local before, since, refilled = unpack('<ddd', state)
    at = since > now and since or now
    pace = refilled > refill and refilled or refill -- a raised refill applies at once
    local half = floor((at - since) / 2)
    local regained = half * pace
    if refill > 0 and before < full and regained <= MAX then
      level = before + regained + regained -- in halves, because a debt may be as large as MAX
      if at - since > 2 * half then
        level = level + pace
      end
      level = level > full and full or level
    end
  end
  local behind = at - now
  local function remaining(tokens)
    return tokens > 0 and floor_div(tokens, window) or 0
  end
  local function reset(tokens, refilled)
    return (tokens >= full or refilled == 0) and behind
      or behind + ceil_div_gap(full, tokens, refilled)
  end
  local function retry(needed, tokens, refilled)
    return needed > capacity and NEVER or behind + ceil_div_gap(needed * window, tokens, refilled)
  end
  if cost < 0 then
    local kept = level + unpaid(capped(-cost * window), refill, at, charged_at)
    kept = kept > full and full or kept
    if kept == level then
      return state, true, remaining(level), reset(level, pace), 0
    end
    return pack('<ddd', kept, at, refill), true, remaining(kept), reset(kept, refill), 0
  end
  local needed = needed_of(cost, overrun)
  if needed <= capacity and needed * window <= level then
    if cost == 0 then
      return state, true, remaining(level), reset(level, pace), 0
    end
    local left = level - cost * window
    return pack('<ddd', left, at, refill), true, remaining(left), reset(left, refill), 0
  end
  if cost == 0 or overrun == REFUSE or refill == 0 then
    return state, false, remaining(level), reset(level, pace), retry(needed, level, pace)
  end
  local debt = level - capped(cost * window)
  debt = debt < -MAX and -MAX or debt
  return pack('<ddd', debt, at, refill), false, remaining(level) - cost, reset(debt, refill),
    retry(needed, debt, refill)
end
