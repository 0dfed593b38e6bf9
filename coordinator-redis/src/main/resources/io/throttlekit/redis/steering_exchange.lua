-- Elects the replica that steers, keeps the record that it publishes, and the reports for it, by the
-- rules of SteeringExchange and SteeringLease.
--
-- KEYS[2]   a hash of
--   lease     "<epoch> <until> <incarnation> <replica>": the last one; without a replica if it was
--             given up
--   version   "<epoch> <version>" of the record
--   record    its text
--   dropped   reports that were dropped since the last answer to the steering replica
-- KEYS[3]   the reports that wait: a list of "<kept until> <length of the id> <id> <text>", where
--           the id is that of the replica that left it
-- ARGV[3]   the id of the replica
-- ARGV[4]   its incarnation
-- ARGV[5]   1 if it leaves
-- ARGV[6]   a report, or ''
-- ARGV[7]   epoch and ARGV[8] version of the record that it has, or 0
-- ARGV[9]   epoch, ARGV[10] version and ARGV[11] text of the record to publish, or 0, 0 and ''
--
-- Reply: the id of the steering replica or '', the epoch of its lease if it is this one (else 0), 1
-- if its record is the current one, dropped reports, epoch, version and text of the record if it is
-- newer than that of the replica (else 0, 0 and ''), and id and text of each report in turn.
local LEASE, RENEW, MAX_LEFT = 1750, 500, 3500 -- ms
local MAX_REPORTS, MAX_NUMBER = 64, 9007199254740991
local REPORT_KEPT, RECORD_KEPT = 5000, 604800000 -- ms
local match, abs, max = string.match, math.abs, math.max

local function write(...)
  call('HSET', KEYS[2], ...)
  expire_after(KEYS[2], now + RECORD_KEPT)
end

local function is_newer(epoch, version, than_epoch, than_version)
  return epoch > than_epoch or epoch == than_epoch and version > than_version
end

-- Returns both numbers, or zeros if the exchange did not write them: what cannot be read is lost, and
-- must not make every visit fail.
local function both(one, other)
  one, other = tonumber(one), tonumber(other)
  if one and other and one <= MAX_NUMBER and other <= MAX_NUMBER then
    return one, other
  end
  return 0, 0
end

local stored = call('HMGET', KEYS[2], 'lease', 'version', 'dropped')
local dropped = both(stored[3], 0)

local record_epoch, record_version = both(match(stored[2] or '', '^(%d+) (%d+)$'))
local known_epoch, known_version = tonumber(ARGV[7]), tonumber(ARGV[8])

-- the lease
local epoch, ends, incarnation, holder = match(stored[1] or '', '^(%d+) (%d+) (%-?%d+) (.*)$')
epoch, ends = both(epoch, ends)
holder = epoch > 0 and holder or ''
local own = holder == ARGV[3] and incarnation == ARGV[4]
local left = ends - now
local held = holder ~= '' and left >= 0 and left <= MAX_LEFT
local leaves = ARGV[5] == '1'
-- A record that the replica knows is lost, as after the promotion of a server that lagged.
local lost = known_epoch > epoch
  or own and known_epoch == epoch and is_newer(epoch, known_version, record_epoch, record_version)
local steers = not leaves and (own or not held or lost)
if own and leaves then
  held = false
  write('lease', digits(epoch) .. ' 0 0 ')
elseif steers and (not own or lost or abs(LEASE - left) >= RENEW) then
  if not own or lost then
    epoch = max(max(epoch, known_epoch) + 1, now)
  end
  write('lease', table.concat({digits(epoch), digits(now + LEASE), ARGV[4], ARGV[3]}, ' '))
end

-- the record
local next_epoch, next_version = tonumber(ARGV[9]), tonumber(ARGV[10])
local published = false
if steers and next_epoch == epoch then
  if is_newer(next_epoch, next_version, record_epoch, record_version) then
    record_epoch, record_version = next_epoch, next_version
    write('version', digits(record_epoch) .. ' ' .. digits(record_version), 'record', ARGV[11])
  end
  published = record_epoch == next_epoch and record_version == next_version
end
local text
if not published and is_newer(record_epoch, record_version, known_epoch, known_version) then
  text = call('HGET', KEYS[2], 'record')
end

-- the reports
local report = ARGV[6] ~= ''
  and table.concat({digits(now + REPORT_KEPT), #ARGV[3], ARGV[3], ARGV[6]}, ' ')
local reports, first = {}, 1
if steers then
  reports = call('LRANGE', KEYS[3], 0, -1)
  if #reports > 0 then
    call('DEL', KEYS[3])
  end
  if dropped > 0 then
    call('HDEL', KEYS[2], 'dropped')
  end
  if report then
    reports[#reports + 1] = report
  end
  if #reports > MAX_REPORTS then
    first = #reports - MAX_REPORTS + 1
    dropped = dropped + first - 1
  end
elseif report then
  local length = call('RPUSH', KEYS[3], report)
  expire_after(KEYS[3], now + REPORT_KEPT)
  if length > MAX_REPORTS then
    call('LTRIM', KEYS[3], length - MAX_REPORTS, -1)
    write('dropped', digits(dropped + length - MAX_REPORTS))
  end
end

local reply = {
  new_epoch,
  steers and ARGV[3] or held and holder or '',
  steers and digits(epoch) or '0',
  published and 1 or 0,
  '0', -- dropped reports, counted below
  text and digits(record_epoch) or '0',
  text and digits(record_version) or '0',
  text or '',
}
for i = first, #reports do
  local kept_until, length, begin = match(reports[i], '^(%d+) (%d+) ()')
  if not kept_until or tonumber(kept_until) < now then
    dropped = dropped + 1
  else
    local ended = begin + tonumber(length)
    reply[#reply + 1] = sub(reports[i], begin, ended - 1)
    reply[#reply + 1] = sub(reports[i], ended + 1)
  end
end
if steers then
  reply[5] = digits(dropped)
end
return reply
