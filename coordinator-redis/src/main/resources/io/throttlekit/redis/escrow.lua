-- KEYS[2] is what a region holds of one counter: a hash of "<units> <begins> <ends> <history>" by the
-- window's end by the coordinator's clock, which is its name. What has ended is taken out, so that a
-- clock that steps back does not bring it back.
--
-- So is what another history of these data took in. A server begins one when it starts, when it
-- becomes a master, and when its first replica comes or its last has been gone for long: what it held
-- before may have been spent since, where these data do not show it.
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

local function put(name, of)
  local value = digits(of.units) .. ' ' .. of.begins .. ' ' .. of.ends .. ' ' .. history
  call('HSET', KEYS[2], name, value)
end
