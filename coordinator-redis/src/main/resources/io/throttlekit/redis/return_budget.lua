-- Takes units of a budget back from a region, each return once.
--
-- ARGV[3]   length of a window in ms
-- ARGV[4]   end of the window
-- ARGV[5]   units
-- ARGV[6]   the id of the return: the region, and a part that is unique in the region
--
-- Reply: 1 if the units can be leased again, 0 if they are forfeited: the window has ended, or its
-- data were lost, so that these units may belong to an unknown lease.
local ends, units = tonumber(ARGV[4]), tonumber(ARGV[5])
local row = rows[0].ends == ends and rows[0] or rows[1]
if row.ends ~= ends or ends <= at or is_lost(ends) then
  return {new_epoch, 0}
end
local is_repeated = call('HSETNX', row.key, 'r' .. ARGV[6], '1') == 0
