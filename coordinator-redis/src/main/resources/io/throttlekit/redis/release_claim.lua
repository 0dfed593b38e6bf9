-- Returns releases that wait for a process and that no call has returned yet, and marks them as
-- returned. Of equal ones only the first.
--
-- KEYS[2]   "<until> <returned>", as in release_exchange.lua
-- KEYS[3]   its queue
--
-- Reply: the releases.
local MAX_BATCH = 1000
local match = string.match

local until_millis, returned = match(call('GET', KEYS[2]) or '0', '^(%d+) ?(%d*)$')
returned = tonumber(returned) or 0
local newest = call('LINDEX', KEYS[3], -1)
local reply = {new_epoch}
if tonumber(until_millis) < now or not newest or tonumber(match(newest, '^%d+')) <= returned then
  return reply
end
local before = {}
local items = call('LRANGE', KEYS[3], 0, -1)
for i = 1, #items do
  local number, kept_until, text = match(items[i], '^(%d+) (%d+) (.*)$')
  number = tonumber(number)
  if number > returned then
    if #reply > MAX_BATCH then
      break
    end
    returned = number
    if not before[text] and tonumber(kept_until) >= now then
      reply[#reply + 1] = text
    end
  end
  before[text] = true
end
call('SET', KEYS[2], until_millis .. ' ' .. digits(returned))
expire_after(KEYS[2], tonumber(until_millis))
return reply
