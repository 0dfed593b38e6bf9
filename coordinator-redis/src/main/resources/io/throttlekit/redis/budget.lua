-- KEYS[2] and KEYS[3] are the units leased of the even and of the odd windows of a budget. A window
-- is named by its end. Only the current and the next window can be leased, so two rows are enough.
-- Each is a hash:
--   end       of its window
--   leased    units leased and not returned
--   current   end of the newest window that was ever current
--   r<return> for each return, '1'
--   c<sender> the number of its last lease, and the units granted
local window = tonumber(ARGV[3])
local rows = {}
local current = now - fmod(now, window) + window
for i = 0, 1 do
  local found = call('HMGET', KEYS[i + 2], 'end', 'leased', 'current')
  local row = {
    key = KEYS[i + 2],
    ends = tonumber(found[1] or 0),
    leased = tonumber(found[2] or 0),
  }
  local seen = tonumber(found[3] or 0)
  current = seen > current and seen or current
  rows[i] = row
end
-- Windows only roll forward: if the clock has stepped back, the newest window has just begun.
local at = now > current - window and now or current - window

-- Whether a window had begun, or could be leased, when data were lost: its leases may be unknown.
local function is_lost(ends)
  return loss > 0 and ends <= loss - fmod(loss, window) + 2 * window
end
