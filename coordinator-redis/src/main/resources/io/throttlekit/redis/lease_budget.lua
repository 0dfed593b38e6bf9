-- Leases units of a budget to a region.
--
-- ARGV[6]   requested units
-- ARGV[10]  the sender of the call, or '' if the call is never repeated
-- ARGV[11]  the number of the call: a repeated one gets the same grant of a window, a lower one -1
--
-- Reply: granted units, end of the current window, now, units left.
local units = tonumber(ARGV[6])
local left = limit > row.leased and limit - row.leased or 0
local granted = units < left and units or left
if ARGV[10] ~= '' then
  local record = call('HGET', row.key, 'c' .. ARGV[10])
  local number, before = string.match(record or '', '^(%d+) (%d+)$')
  if number and tonumber(number) > tonumber(ARGV[11]) then
    return {new_epoch, -1, current, at, 0}
  elseif number == ARGV[11] then
    return {new_epoch, tonumber(before), current, at, left}
  end
  call('HSET', row.key, 'c' .. ARGV[10], ARGV[11] .. ' ' .. digits(granted))
end
call('HSET', row.key, 'end', digits(requested_end), 'leased', digits(row.leased + granted),
  'current', digits(current))
expire_after(row.key, requested_end)
return {new_epoch, granted, current, at, left - granted}
