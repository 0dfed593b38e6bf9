-- Exchanges releases of permits between processes.
--
-- KEYS[2]   "<until> <returned>": when the calling process ceases to be known, in ms since 1970, and
--           the number of the last release for it that a call has returned
-- KEYS[3]   its queue: a list of "<number> <kept until> <text>". Numbers ascend, and begin with the
--           time in µs since 1970: so they do not repeat when the queue was empty
-- KEYS[4], KEYS[5]   the same of the first recipient, and so on
-- ARGV[3]   the number of the last release that the process has received, or 0
-- ARGV[4]   the number of recipients; then for each the number of its releases, and their texts
--
-- Reply: the number of the last release below or 0, releases for unknown processes, releases that
-- were dropped from full queues, and the texts for the calling process.
local MAX_BATCH, MAX_QUEUE = 1000, 10000
local KEPT = 600000 -- ms
local RENEW = 120000 -- ms: fewer writes than one for each poll
local match = string.match

local known_until, returned = match(call('GET', KEYS[2]) or '0', '^(%d+) ?(%d*)$')
known_until, returned = tonumber(known_until), tonumber(returned) or 0

local items = call('LRANGE', KEYS[3], 0, MAX_BATCH - 1)
local received = 0
for i = 1, #items do
  if match(items[i], '^%d+') == ARGV[3] then
    received = i
    break
  end
end
while items[received + 1] and tonumber(match(items[received + 1], '^%d+ (%d+)')) < now do
  received = received + 1
end
if received > 0 then
  call('LTRIM', KEYS[3], received, -1)
  items = call('LRANGE', KEYS[3], 0, MAX_BATCH - 1)
end

local last = #items > 0 and tonumber(match(items[#items], '^%d+')) or 0
-- also after the clock has stepped back
if math.abs(now + KEPT - known_until) > RENEW or last > returned then
  call('SET', KEYS[2], digits(now + KEPT) .. ' ' .. digits(last > returned and last or returned))
  expire_after(KEYS[2], now + KEPT)
end

local unknown, dropped, at = 0, 0, 5
for i = 1, tonumber(ARGV[4]) do
  local count, queue = tonumber(ARGV[at]), KEYS[3 + 2 * i]
  if tonumber(match(call('GET', KEYS[2 + 2 * i]) or '0', '^%d+')) < now then
    unknown = unknown + count
  else
    local newest = call('LINDEX', queue, -1)
    local number = clock[1] * 1000000 + clock[2]
    if newest and tonumber(match(newest, '^%d+')) >= number then
      number = tonumber(match(newest, '^%d+')) + 1
    end
    local added, rest = {}, ' ' .. digits(now + KEPT) .. ' '
    for j = 1, count do
      added[j] = digits(number + j - 1) .. rest .. ARGV[at + j]
    end
    local length = call('RPUSH', queue, unpack(added))
    if length > MAX_QUEUE then
      call('LTRIM', queue, length - MAX_QUEUE, -1)
      dropped = dropped + length - MAX_QUEUE
    end
    expire_after(queue, now + KEPT)
  end
  at = at + count + 1
end

local reply = {new_epoch, #items > 0 and match(items[#items], '^%d+') or '0', unknown, dropped}
for i = 1, #items do
  reply[#reply + 1] = match(items[i], '^%d+ %d+ (.*)$')
end
return reply
