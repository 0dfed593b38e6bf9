-- Takes everything of one window out of what a region holds of a counter.
--
-- ARGV[3]   end of the window by the coordinator's clock: its name
--
-- Reply: units.
local of = windows[ARGV[3]]
local units = of and of.units or 0
if units > 0 then
  of.units = 0 -- its refills stay known
  put(ARGV[3], of)
end
return {told, units}
