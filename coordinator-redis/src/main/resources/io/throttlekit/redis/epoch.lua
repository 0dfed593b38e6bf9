-- The epoch: who finds none, or an older one than it knows, begins the next; and the data was lost
-- if anybody had seen an epoch before.
local known = ARGV[1]
local epoch = call('GET', KEYS[1])
if epoch ~= known then
  local id = epoch and tonumber(string.match(epoch, '^%d+'))
  local known_id = known ~= '' and tonumber(string.match(known, '^%d+'))
  if not id or known_id and known_id > id then
    epoch = string.format('%.0f %.0f', clock[1] * 1000000 + clock[2], known_id and now or 0)
    call('SET', KEYS[1], epoch)
  elseif known_id and known_id < id and sub(epoch, -2) == ' 0' then
    -- It was begun by someone who did not know that there was one before.
    epoch = string.format('%.0f %.0f', id, floor(id / 1000))
    call('SET', KEYS[1], epoch)
  end
end
local told = epoch ~= known and epoch or '' -- what the caller has to learn
local loss = tonumber(string.match(epoch, '%d+$'))
