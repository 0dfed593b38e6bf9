-- Takes all units of a counter and one window out of the escrow.
--
-- ARGV[3]   end of the window by the coordinator's clock, which names the window
-- ARGV[4]   the sender of the call, or '' if the call is never repeated
-- ARGV[5]   the number of the call
--
-- Reply: units; -1 if a later call of the sender was answered.
local of = windows[ARGV[3]]
local before, name = answered(ARGV[4], ARGV[5])
if before and (before == -1 or name == ARGV[3]) then
  return {new_epoch, before}
end
local units = of and of.units or 0
if of then
  remember(ARGV[4], ARGV[5], units, ARGV[3], of)
end
if units > 0 then
  of.units = 0 -- refills stay recorded, so a repeat is ignored
  put(ARGV[3], of)
end
return {new_epoch, units}
