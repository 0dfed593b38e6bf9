-- State: debt in units times window, its time, and the rate that repays it
local function gcra(state, cost, overrun, rate, window, burst, _, charged_at)
  local owed, at, pace = 0, now, rate
  if state then
    local before, since, repaid = unpack('<ddd', state)
    at = since > now and since or now
    pace = repaid > rate and repaid or rate -- a raised rate applies at once
    local paid = (at - since) * pace
    if rate > 0 and paid <= before then
      owed = before - paid
    end
  end
  local behind = at - now
  local function remaining(debt)
    local left = burst * window - debt - capped(behind * rate)
    return left > 0 and floor_div(left, window) or 0
  end
  local function reset(debt, repaid)
    return (debt == 0 or repaid == 0) and behind or behind + ceil_div(debt, repaid)
  end
  local function retry(needed, debt, repaid)
    if needed > burst then
      return NEVER
    end
    return rate == 0 and behind or behind + ceil_div(debt - (burst - needed) * window, repaid)
  end
  if cost < 0 then
    local kept = owed - unpaid(capped(-cost * window), rate, at, charged_at)
    kept = kept < 0 and 0 or kept
    if kept == owed then
      return state, true, remaining(owed), reset(owed, pace), 0
    end
    return pack('<ddd', kept, at, rate), true, remaining(kept), reset(kept, rate), 0
  end
  local needed = needed_of(cost, overrun)
  local wait = retry(needed, owed, pace)
  if wait <= 0 then
    if cost == 0 then
      return state, true, remaining(owed), reset(owed, pace), 0
    end
    local debt = owed + cost * window
    return pack('<ddd', debt, at, rate), true, remaining(debt), reset(debt, rate), 0
  end
  if cost == 0 or overrun == REFUSE or rate == 0 then
    return state, false, remaining(owed), reset(owed, pace), wait
  end
  local debt = capped(owed + capped(cost * window))
  return pack('<ddd', debt, at, rate), false, remaining(owed) - cost, reset(debt, rate),
    retry(needed, debt, rate)
end
