-- Compares the terms of a region's lease with those of the others, and finds the window.
--
-- KEYS[4]   the terms in effect of each region for the descriptor: a hash of "<until> <terms>" by
--           region, where until is the end of the last window that it leased or requested
-- KEYS[5]   the terms of a region's last request, by region, if that request was refused
-- ARGV[3]   length of a window in ms
-- ARGV[4]   end of the window, or 0 for the current one
-- ARGV[5]   limit of a window
-- ARGV[7]   1 to grant nothing of windows whose data were lost
-- ARGV[8]   the region
-- ARGV[9]   its terms
--
-- Reply, with nothing leased: nothing granted, as in lease_budget.lua; or another region, its terms,
-- which differ, and the terms of its last request.
local requested_end, limit = tonumber(ARGV[4]), tonumber(ARGV[5])
local region, terms = ARGV[8], ARGV[9]
if requested_end == 0 then
  requested_end = current
end
if requested_end ~= current and requested_end ~= current + window then
  return {new_epoch, 0, current, at, 0}
end

local requested, found = {}, call('HGETALL', KEYS[5])
for i = 1, #found, 2 do
  requested[found[i]] = found[i + 1]
end
local agreed = call('HGETALL', KEYS[4])
local moved, own, own_until, last, against = {}, nil, 0, 0, nil
for i = 1, #agreed, 2 do
  local other = agreed[i]
  local ends, theirs = string.match(agreed[i + 1], '^(%d+) (.*)$')
  ends = tonumber(ends)
  if ends <= now then
    call('HDEL', KEYS[4], other)
  else
    last = ends > last and ends or last
    if other == region then
      own, own_until = theirs, ends
    elseif theirs ~= terms then
      if requested[other] == terms then
        moved[#moved + 1] = {region = other, ends = ends}
      else
        against = {new_epoch, other, theirs, requested[other] or theirs}
      end
    end
  end
end
if against then
  if own and (requested[region] or own) ~= terms then
    call('HSET', KEYS[5], region, terms)
    expire_after(KEYS[5], last)
  end
  return against
end
for i = 1, #moved do
  call('HSET', KEYS[4], moved[i].region, digits(moved[i].ends) .. ' ' .. terms)
  call('HDEL', KEYS[5], moved[i].region)
end
if requested[region] then
  call('HDEL', KEYS[5], region)
end
own_until = own_until > requested_end and own_until or requested_end
call('HSET', KEYS[4], region, digits(own_until) .. ' ' .. terms)
expire_after(KEYS[4], last > own_until and last or own_until)

if ARGV[7] == '1' and is_lost(requested_end) then
  return {new_epoch, 0, current, at, 0}
end
local row = rows[fmod(requested_end / window, 2)]
if row.ends ~= requested_end then -- of an older window: a newer one would be current
  call('DEL', row.key)
  row.leased = 0
end
