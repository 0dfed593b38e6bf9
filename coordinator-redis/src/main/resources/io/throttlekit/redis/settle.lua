local algorithms = {[0] = fixed_window, sliding_window, sliding_log, gcra, token_bucket}

local found, draft, lasts = {}, {}, {} -- by counter: state in Redis, current state, ms it lasts

local function state_of(counter)
  local state = draft[counter]
  if state == nil then
    state = call('GET', KEYS[counter])
    found[counter], draft[counter], lasts[counter] = state, state, 0
  end
  return state
end

local requests = ARGV[2]
local position = 1

local function denied_for(algorithm, window)
  if loss == 0 then
    return 0
  end
  return (algorithm == 0 and loss - fmod(loss, window) or loss) + window - now
end

-- Applies a charge to the draft of its counter.
local function charge(flags, counter, cost, limit, window, extra, counts_to, charged_at)
  local algorithm, overrun = floor(flags / 16), flags % 4
  local state = state_of(counter)
  local next_state, admitted, remaining, reset, retry =
    algorithms[algorithm](state, cost, overrun, limit, window, extra, counts_to, charged_at)
  local wait = flags % 16 >= 8 and cost >= 0 and denied_for(algorithm, window) or 0
  if wait > 0 then
    if overrun == REFUSE then
      next_state = state
    end
    admitted, remaining = false, remaining < 0 and remaining or 0
    reset = reset > wait and reset or wait
    retry = retry > wait and retry or wait
  end
  draft[counter] = next_state
  if reset > lasts[counter] then
    lasts[counter] = reset
  end
  return admitted, remaining, reset, retry
end

local function packed(admitted, remaining, reset, retry)
  return pack('<Bddd', admitted and 1 or 0, remaining, reset, retry)
end

-- Decides the claims of one request together, as Settlement does in memory.
local function settle(claims, refused_before)
  local roles, ends, size = {}, {}, 0
  local flags, counters, costs, limits, windows, extras = {}, {}, {}, {}, {}, {}
  local admits, remains, resets, retries, earlier = {}, {}, {}, {}, {}
  local at_first, distinct = {}, 0
  for c = 1, claims do
    local charges
    roles[c], charges, position = unpack('<BH', requests, position)
    for i = size + 1, size + charges do
      flags[i], counters[i], costs[i], limits[i], windows[i], extras[i], position =
        unpack('<BHdddd', requests, position)
      if at_first[counters[i]] == nil then
        at_first[counters[i]] = state_of(counters[i])
        distinct = distinct + 1
      end
    end
    size = size + charges
    ends[c] = size
  end

  local function apply(i, cost, overrun)
    local applied = overrun and flags[i] - flags[i] % 4 + overrun or flags[i]
    return charge(applied, counters[i], cost or costs[i], limits[i], windows[i], extras[i])
  end
  local function charge_only_what_always_counts(first, last)
    for i = first, last do
      if costs[i] < 0 or flags[i] % 4 ~= REFUSE then
        local admitted, remaining, reset, retry = apply(i)
        if not admits[i] and admitted then
          retry = retries[i] -- it only fits without the request's other charges
        end
        admits[i], remains[i], resets[i], retries[i] = admits[i] and admitted, remaining, reset, retry
      elseif admits[i] then
        local _, remaining, reset = apply(i, 0, COUNT)
        remains[i], resets[i], retries[i] = remaining, reset, 0
      end
    end
  end

  local admitted, quotas, refused_quotas = not refused_before, 0, 0
  local first = 1
  for c = 1, claims do
    local refused = false
    for i = first, ends[c] do
      earlier[i] = draft[counters[i]]
      admits[i], remains[i], resets[i], retries[i] = apply(i)
      refused = refused or not admits[i]
    end
    if refused then
      for i = ends[c], first, -1 do
        draft[counters[i]] = earlier[i]
      end
      charge_only_what_always_counts(first, ends[c])
    end
    if roles[c] == 0 then
      admitted = admitted and not refused
    elseif roles[c] == 1 then
      quotas = quotas + 1
      refused_quotas = refused_quotas + (refused and 1 or 0)
    end
    first = ends[c] + 1
  end
  admitted = admitted and (quotas == 0 or refused_quotas < quotas)
  if not admitted then
    for counter, state in pairs(at_first) do
      draft[counter] = state
    end
    if distinct < size then -- on one counter, a refused charge waits for all before it
      local sums = {}
      for i = 1, size do
        local together = costs[i]
        if together > 0 then
          together = capped((sums[counters[i]] or 0) + together)
          sums[counters[i]] = together
        end
        if not admits[i] and together > costs[i] then
          local _, _, _, wait = apply(i, together, REFUSE)
          draft[counters[i]] = at_first[counters[i]]
          retries[i] = wait > retries[i] and wait or retries[i]
        end
      end
    end
    charge_only_what_always_counts(1, size)
  end
  local out = {string.char(admitted and 1 or 0)}
  for i = 1, size do
    out[i + 1] = packed(admits[i], remains[i], resets[i], retries[i])
  end
  return table.concat(out)
end
