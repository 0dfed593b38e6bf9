-- Leases units of a budget to a region.
--
-- KEYS[4]   what the regions have said of the descriptor: a hash of "<until> <terms>" by region,
--           where until is the end of the last window that it leased, or asked for
-- ARGV[3]   length of a window in ms
-- ARGV[4]   end of the window, or 0 for the one that lasts
-- ARGV[5]   limit of a window
-- ARGV[6]   units wanted
-- ARGV[7]   1 to be given nothing of windows whose data were lost
-- ARGV[8]   the region
-- ARGV[9]   its terms
--
-- Reply: units granted, end of the window that lasts, now, units left;
-- or a region, and its terms that are not the same. Then nothing was changed.
local wanted, limit, units = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local region, terms = ARGV[8], ARGV[9]
if wanted == 0 then
  wanted = current
end
if wanted ~= current and wanted ~= current + window then
  return {told, 0, current, at, 0}
end

local agreed = call('HGETALL', KEYS[4])
local gone, own_until, last = {}, wanted, wanted
for i = 1, #agreed, 2 do
  local ends, theirs = string.match(agreed[i + 1], '^(%d+) (.*)$')
  ends = tonumber(ends)
  if ends <= now then
    gone[#gone + 1] = agreed[i]
  elseif agreed[i] == region then
    own_until = ends > wanted and ends or wanted
  elseif theirs ~= terms then
    return {told, agreed[i], theirs}
  end
  last = ends > last and ends or last
end
for i = 1, #gone do
  call('HDEL', KEYS[4], gone[i])
end
call('HSET', KEYS[4], region, digits(own_until) .. ' ' .. terms)
expire_after(KEYS[4], last)

if ARGV[7] == '1' and is_lost(wanted) then
  return {told, 0, current, at, 0}
end
local row = rows[fmod(wanted / window, 2)]
if row.ends ~= wanted then -- of an older window, for a newer one would be current
  call('DEL', row.key)
  row.leased = 0
end
local left = limit > row.leased and limit - row.leased or 0
local granted = units < left and units or left
call('HSET', row.key, 'end', digits(wanted), 'leased', digits(row.leased + granted),
  'current', digits(current))
expire_after(row.key, wanted)
return {told, granted, current, at, left - granted}
