-- Reads a record, or replaces it if no process has changed the record since it was read.
--
-- KEYS[2]   a hash of
--   version   a number that each write raises, and that does not repeat after the record was removed
--   record    bytes
--   until     when the record ends, in ms since 1970
-- ARGV[3]   the version that was read, or 0 for no record; '' to read only
-- ARGV[4]   1 to write, 0 to remove the record
-- ARGV[5]   for how many ms the record is kept at least
-- ARGV[6]   the record to write
--
-- Reply: now, 1 if the record was replaced; else 0, the version and the record, or 0 and ''.
local stored = call('HMGET', KEYS[2], 'version', 'until')
local version, ends = tonumber(stored[1]), tonumber(stored[2])
if not version or not ends or ends < now then
  version = 0
end
if tonumber(ARGV[3]) == version then
  if ARGV[4] == '1' then
    local next = clock[1] * 1000000 + clock[2]
    local ended = now + tonumber(ARGV[5])
    if version > 0 and ends > ended then
      ended = ends
    end
    call('HSET', KEYS[2], 'version', digits(next > version and next or version + 1),
      'record', ARGV[6], 'until', digits(ended))
    expire_after(KEYS[2], ended)
  else
    call('DEL', KEYS[2])
  end
  return {new_epoch, now, 1, '0', ''}
end
return {new_epoch, now, 0, digits(version), version > 0 and call('HGET', KEYS[2], 'record') or ''}
