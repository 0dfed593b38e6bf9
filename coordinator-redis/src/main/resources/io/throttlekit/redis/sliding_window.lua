-- State: start and units of each slice, the newest first
local function sliding_window(state, cost, overrun, limit, window, buckets, counts_to)
  local bucket = window / buckets
  local slices, size = {}, 0 -- size counts both numbers of a slice
  if state then
    size = #state / 8
    slices = {unpack('<' .. rep('dd', size / 2), state)}
  end
  local slice = now - fmod(now, bucket)
  if size > 0 and slices[1] > slice then
    slice = slices[1]
  end
  local at = now > slice and now or slice
  local oldest = slice - window

  local function packed()
    local live = 0
    while live < size and slices[live + 1] >= slices[1] - window do
      live = live + 2
    end
    return pack('<' .. rep('dd', live / 2), values(slices, 1, live))
  end
  local function spare()
    local whole, fading = 0, 0
    for i = 1, size, 2 do
      if slices[i] == oldest then
        fading = capped(slices[i + 1] * (bucket - (at - slice)))
      elseif slices[i] > oldest then
        whole = capped(whole + slices[i + 1])
      else
        break
      end
    end
    return limit * bucket - capped(capped(whole * bucket) + fading)
  end
  local function remaining()
    local left = spare()
    return left > 0 and floor_div(left, bucket) or 0
  end
  local function reset()
    local i = 1
    while i < size and slices[i + 1] == 0 do
      i = i + 2
    end
    local unused = i < size and slices[i] + bucket + window or at
    return (unused > at and unused or at) - now
  end
  local function retry(needed)
    if needed > limit then
      return NEVER
    end
    local room, i = limit - needed, 1
    while slices[i + 1] <= room do
      room = room - slices[i + 1]
      i = i + 2
    end
    return slices[i] + window + bucket - floor_div(room * bucket, slices[i + 1]) - now
  end
  local function add()
    if size > 0 and slices[1] == slice then
      slices[2] = capped(slices[2] + cost)
    else
      slices = {slice, cost, values(slices, 1, size)}
      size = size + 2
    end
    return packed()
  end

  if cost < 0 then
    local function take(units)
      if size == 0 or slices[1] < oldest then
        return state
      end
      local newest, i = slices[1], 1
      while i < size and slices[i] >= oldest and units >= slices[i + 1] do
        units = units - slices[i + 1]
        i = i + 2
      end
      if i < size and slices[i] >= oldest then
        slices[i + 1] = slices[i + 1] - units
      end
      if i > 1 then
        slices = {newest, 0, values(slices, i, size)}
        size = size - i + 3
      end
      return packed()
    end
    local function take_from(start, units)
      for i = 1, size, 2 do
        if slices[i] == start then
          slices[i + 1] = slices[i + 1] > units and slices[i + 1] - units or 0
          return packed()
        end
      end
      return state
    end
    local kept
    if counts_to then
      kept = take_from(counts_to - window - bucket, -cost)
    else
      kept = take(-cost)
    end
    return kept, true, remaining(), reset(), 0
  end
  local needed = needed_of(cost, overrun)
  if needed <= limit and spare() >= capped(needed * bucket) then
    local next_state = cost ~= 0 and add() or state
    return next_state, true, remaining(), reset(), 0
  end
  if cost == 0 or overrun == REFUSE then
    return state, false, remaining(), reset(), retry(needed)
  end
  local left = remaining()
  local next_state = add()
  return next_state, false, left - cost, reset(), retry(needed)
end
