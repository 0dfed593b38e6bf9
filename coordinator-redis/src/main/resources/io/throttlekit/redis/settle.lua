local FAIR = 5
local algorithms =
  {[0] = fixed_window, sliding_window, sliding_log, gcra, token_bucket, [FAIR] = fair_window}

local found, draft, lasts = {}, {}, {} -- by counter: state in Redis, current state, ms it lasts
local pools = {} -- by counter, of those that tenants share

local function is_shared(flags)
  return flags >= 16 * FAIR
end

local function state_of(counter, flags)
  local state = draft[counter]
  if is_shared(flags) and not pools[counter] then
    pools[counter] =
      read_pool(KEYS[counter], KEYS[counter + 1], KEYS[counter + 2], state == false)
    state = {pool = pools[counter]}
    draft[counter], lasts[counter] = state, 0
  elseif state == nil then
    state = call('GET', KEYS[counter])
    found[counter], draft[counter], lasts[counter] = state, state, 0
  end
  return state
end

-- Sets the draft of a counter back to an earlier one
local function restore(counter, earlier)
  if pools[counter] then
    undo_until(draft[counter], earlier)
  end
  draft[counter] = earlier
end

local requests = ARGV[2]
local position = 1

-- Reads a charge
local function next_charge()
  local flags, counter, cost, limit, window, extra
  flags, counter, cost, limit, window, extra, position =
    unpack('<BHdddd', requests, position)
  if is_shared(flags) then
    extra = {weight = extra, limit = limit}
    extra.parts, extra.unlisted, extra.most, extra.name, position =
      unpack('<dddHc0', requests, position)
  end
  return flags, counter, cost, limit, window, extra
end

local function denied_for(algorithm, window)
  if loss == 0 then
    return 0
  end
  local is_aligned = algorithm == 0 or algorithm == FAIR
  return (is_aligned and loss - fmod(loss, window) or loss) + window - now
end

-- Applies a charge to the draft of its counter.
local function charge(flags, counter, cost, limit, window, extra, counts_to, charged_at)
  local algorithm, overrun = floor(flags / 16), flags % 4
  local state = state_of(counter, flags)
  local next_state, admitted, remaining, reset, retry, own_limit =
    algorithms[algorithm](state, cost, overrun, limit, window, extra, counts_to, charged_at)
  local wait = flags % 16 >= 8 and cost >= 0 and denied_for(algorithm, window) or 0
  if wait > 0 then
    if overrun == REFUSE then
      draft[counter] = next_state
      restore(counter, state)
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
  return admitted, remaining, reset, retry, own_limit
end

local function packed(admitted, remaining, reset, retry, own_limit)
  local decision = pack('<Bddd', admitted and 1 or 0, remaining, reset, retry)
  return own_limit and decision .. pack('<d', own_limit) or decision
end

-- Decides the claims of one request together, as Settlement does in memory.
local function settle(claims, refused_before)
  local roles, ends, size = {}, {}, 0
  local flags, counters, costs, limits, windows, extras = {}, {}, {}, {}, {}, {}
  local admits, remains, resets, retries, earlier = {}, {}, {}, {}, {}
  local own_limits = {} -- of tenants
  local at_first, distinct = {}, 0
  for c = 1, claims do
    local charges
    roles[c], charges, position = unpack('<BH', requests, position)
    for i = size + 1, size + charges do
      flags[i], counters[i], costs[i], limits[i], windows[i], extras[i] = next_charge()
      if at_first[counters[i]] == nil then
        at_first[counters[i]] = state_of(counters[i], flags[i])
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
        local admitted, remaining, reset, retry, own_limit = apply(i)
        if not admits[i] and admitted then
          retry = retries[i] -- it only fits without the request's other charges
        end
        admits[i], remains[i], resets[i], retries[i] = admits[i] and admitted, remaining, reset, retry
        own_limits[i] = own_limit
      elseif admits[i] then
        local _, remaining, reset, _, own_limit = apply(i, 0, COUNT)
        remains[i], resets[i], retries[i], own_limits[i] = remaining, reset, 0, own_limit
      end
    end
  end

  local admitted, quotas, refused_quotas = not refused_before, 0, 0
  local first = 1
  for c = 1, claims do
    local refused = false
    for i = first, ends[c] do
      earlier[i] = draft[counters[i]]
      admits[i], remains[i], resets[i], retries[i], own_limits[i] = apply(i)
      refused = refused or not admits[i]
    end
    if refused then
      for i = ends[c], first, -1 do
        restore(counters[i], earlier[i])
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
      restore(counter, state)
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
          local wait, _ = 0, nil
          if is_shared(flags[i]) then -- its refusal lasts until the window ends, anyway
            wait = together > limits[i] * extras[i].parts and NEVER or 0
          else
            _, _, _, wait = apply(i, together, REFUSE)
            draft[counters[i]] = at_first[counters[i]]
          end
          retries[i] = wait > retries[i] and wait or retries[i]
        end
      end
    end
    charge_only_what_always_counts(1, size)
  end
  local out = {string.char(admitted and 1 or 0)}
  for i = 1, size do
    out[i + 1] = packed(admits[i], remains[i], resets[i], retries[i], own_limits[i])
  end
  return table.concat(out)
end
