-- State: units before the first record, then for each charge its time and the total up to it
local function sliding_log(state, cost, overrun, limit, window, _, counts_to)
  local log, size, base = state, 0, 0
  local newest, total = now, 0
  local function load(next_log)
    log = next_log
    size = log and (#log - 8) / 16 or 0
    if log then
      base = unpack('<d', log)
      newest, total = unpack('<dd', log, #log - 15)
    end
  end
  load(state)
  local at = newest > now and newest or now

  local function record(i)
    return unpack('<dd', log, 16 * i - 7)
  end
  local function before(i) -- the total up to the record before i
    if i == 1 then
      return base
    end
    local _, units = record(i - 1)
    return units
  end
  local function first_live(moment) -- the oldest record that counts, or the newest record
    local low, high = 1, size
    while low < high do
      local middle = floor((low + high) / 2)
      if record(middle) > moment - window then
        high = middle
      else
        low = middle + 1
      end
    end
    return low
  end
  local function live_before()
    return newest > at - window and before(first_live(at)) or total
  end
  local function used()
    return log and total - live_before() or 0
  end
  local function reset()
    if not log then
      return 0
    end
    local unused = newest
    if total ~= before(size) then
      unused = newest + window
    elseif size > 1 then
      local older = record(size - 1) + window
      unused = older > newest and older or newest
    end
    return unused > now and unused - now or 0
  end
  local function retry(needed)
    if needed > limit or not log then
      return NEVER
    end
    local target = live_before() + needed - limit + used()
    local low, high = first_live(at), size
    while low < high do
      local middle = floor((low + high) / 2)
      local _, units = record(middle)
      if units >= target then
        high = middle
      else
        low = middle + 1
      end
    end
    return record(low) + window - now
  end
  local function records(from, to)
    return sub(log, 16 * from - 7, 16 * to + 8)
  end
  local function append()
    if not log or newest <= at - window then
      return pack('<ddd', 0, at, cost)
    end
    local from = first_live(at)
    local gone = before(from)
    if total - gone > MAX - cost then
      return pack('<ddd', 0, at, MAX)
    end
    local last = (newest == at or total == before(size)) and size - 1 or size
    -- Bounds the log: records older than the last limit + 2 are merged into their successor.
    local first = last - limit - 1
    first = first > from and first or from
    if total + cost <= MAX then
      return pack('<d', gone) .. records(first, last) .. pack('<dd', at, total + cost)
    end
    local anew = {pack('<d', 0)}
    for i = first, last do
      local millis, units = record(i)
      anew[#anew + 1] = pack('<dd', millis, units - gone)
    end
    return table.concat(anew) .. pack('<dd', at, total - gone + cost)
  end

  if cost < 0 then
    local function cut_to(units)
      if units >= before(size) then
        return pack('<d', base) .. records(1, size - 1) .. pack('<dd', newest, units)
      end
      local from, last = first_live(newest), size - 1
      while before(last) >= units and last > from do
        last = last - 1
      end
      if units == before(last) then
        return pack('<ddd', 0, newest, 0)
      end
      local millis = record(last)
      return pack('<d', before(from)) .. records(from, last - 1)
        .. pack('<dddd', millis, units, newest, units)
    end
    local function without(units, i) -- the log less units of record i
      local millis, up_to = record(i)
      local own = up_to - before(i)
      units = own < units and own or units
      local next_log = {pack('<d', base), records(1, i - 1)}
      if own > units or i == size then -- the newest time stays, even without units
        next_log[3] = pack('<dd', millis, up_to - units)
      end
      for j = i + 1, size do
        local later, units_up_to = record(j)
        next_log[#next_log + 1] = pack('<dd', later, units_up_to - units)
      end
      return table.concat(next_log)
    end
    local counted = log and live_before() or 0
    local kept = total + cost
    kept = kept > counted and kept or counted
    if log and counts_to then
      local i = first_live(counts_to - 1) -- the first record since the charge
      if record(i) == counts_to - window then
        load(without(-cost, i))
      end
    elseif log and kept ~= total then
      load(cut_to(kept))
    end
    local left = limit - used()
    return log, true, left > 0 and left or 0, reset(), 0
  end
  local left = limit - used()
  local needed = needed_of(cost, overrun)
  local admitted = needed <= left
  local shown = left > 0 and left or 0
  if not admitted and (cost == 0 or overrun == REFUSE) then
    return log, false, shown, reset(), retry(needed)
  end
  if cost > 0 then
    load(append())
  end
  if admitted then
    return log, true, left > cost and left - cost or 0, reset(), 0
  end
  return log, false, shown - cost, reset(), retry(needed)
end
