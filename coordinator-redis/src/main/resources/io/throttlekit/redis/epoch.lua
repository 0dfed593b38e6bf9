-- The epoch. A caller that finds none, or an older one than it knows, begins the next one; data were
-- lost if the caller had known an epoch before.
local known = ARGV[1]
local epoch = call('GET', KEYS[1])
if epoch ~= known then
  local id = epoch and tonumber(string.match(epoch, '^%d+'))
  local known_id = known ~= '' and tonumber(string.match(known, '^%d+'))
  if not id or known_id and known_id > id then
    epoch = string.format('%.0f %.0f', clock[1] * 1000000 + clock[2], known_id and now or 0)
    call('SET', KEYS[1], epoch)
  elseif known_id and known_id < id and sub(epoch, -2) == ' 0' then
    -- Begun by a process that did not know of an earlier epoch.
    epoch = string.format('%.0f %.0f', id, floor(id / 1000))
    call('SET', KEYS[1], epoch)
  end
end
local new_epoch = epoch ~= known and epoch or '' -- for the caller to record
local loss = tonumber(string.match(epoch, '%d+$'))
