-- State: debt in units times window, its time, and the rate that repays it
local function gcra(state, cost, overrun, rate, window, burst, _, charged_at)
  local owed, at = 0, now
  if state then
    local before, since, repaid = unpack('<ddd', state)
    at = since > now and since or now
    local paid = (at - since) * repaid
    if rate > 0 and paid <= before then
      owed = before - paid
    end
  end
  local behind = at - now
  local function remaining(debt)
    local left = burst * window - debt - capped(behind * rate)
    return left > 0 and floor_div(left, window) or 0
  end
  local function reset(debt)
    return (debt == 0 or rate == 0) and behind or behind + ceil_div(debt, rate)
  end
  local function retry(needed, debt)
    if needed > burst then
      return NEVER
    end
    return rate == 0 and behind or behind + ceil_div(debt - (burst - needed) * window, rate)
  end
  if cost < 0 then
    local kept = owed - unpaid(capped(-cost * window), rate, at, charged_at)
    kept = kept < 0 and 0 or kept
    return kept ~= owed and pack('<ddd', kept, at, rate) or state, true, remaining(kept), reset(kept), 0
  end
  local needed = needed_of(cost, overrun)
  local wait = retry(needed, owed)
  if wait <= 0 then
    local debt = owed + cost * window
    return cost ~= 0 and pack('<ddd', debt, at, rate) or state, true, remaining(debt), reset(debt), 0
  end
  if cost == 0 or overrun == REFUSE or rate == 0 then
    return state, false, remaining(owed), reset(owed), wait
  end
  local debt = capped(owed + capped(cost * window))
  return pack('<ddd', debt, at, rate), false, remaining(owed) - cost, reset(debt), retry(needed, debt)
end
