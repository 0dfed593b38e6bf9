-- KEYS[2] holds a region's units of one counter: a hash of "<units> <begins> <ends> <history>" by the
-- end of the window by the coordinator's clock, which names the window. Ended windows are removed, so
-- that a clock that steps back does not restore them.
--
-- Windows that were stored under another history are removed, too. A server begins a history when it
-- starts, when it becomes a master, when its first replica connects, and some time after its last one
-- has left. Units from before may have been spent since, without a trace in this data.
local history = string.match(call('INFO', 'replication'), 'master_replid:(%x+)')
local windows, last = {}, 0
local held = call('HGETALL', KEYS[2])
for i = 1, #held, 2 do
  local units, begins, ends, of = string.match(held[i + 1], '^(%d+) (%-?%d+) (%-?%d+) (%x+)$')
  if of ~= history or tonumber(ends) <= now then
    call('HDEL', KEYS[2], held[i])
  else
    windows[held[i]] = {units = tonumber(units), begins = begins, ends = ends}
    last = tonumber(ends) > last and tonumber(ends) or last
  end
end

-- KEYS[3] holds the answers to calls that may be repeated: a hash of "<number> <units> <window> <ends>"
-- by sender. Returns the units of the same call, or -1 if a later one was answered.
local function answered(sender, number)
  local last, units, name, ends =
    string.match(sender ~= '' and call('HGET', KEYS[3], sender) or '', '^(%d+) (%d+) (%-?%d+) (%-?%d+)$')
  if not last or tonumber(ends) <= now then
    return nil
  end
  if tonumber(last) > tonumber(number) then
    return -1
  end
  if last == number then
    return tonumber(units), name
  end
end

local function remember(sender, number, units, name, of)
  if sender ~= '' then
    call('HSET', KEYS[3], sender, number .. ' ' .. digits(units) .. ' ' .. name .. ' ' .. of.ends)
    expire_after(KEYS[3], last)
  end
end

local function put(name, of)
  local value = digits(of.units) .. ' ' .. of.begins .. ' ' .. of.ends .. ' ' .. history
  call('HSET', KEYS[2], name, value)
end
