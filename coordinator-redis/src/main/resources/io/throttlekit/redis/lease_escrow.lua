-- Takes units of a counter out of the escrow, from the first window that has begun.
--
-- ARGV[3]   requested units
-- ARGV[4]   the sender of the call, or '' if the call is never repeated
-- ARGV[5]   the number of the call
--
-- Reply: now, and if a window has begun: granted units, end of the window (its name), its begin and
-- end by this clock, units left. Or -1 if a later call of the sender was answered.
local requested = tonumber(ARGV[3])
local first
for name, of in pairs(windows) do
  if tonumber(of.begins) <= now and (not first or tonumber(name) < tonumber(first)) then
    first = name
  end
end
if not first then
  return {new_epoch, now}
end
local of = windows[first]
local before, name = answered(ARGV[4], ARGV[5])
if before == -1 then
  return {new_epoch, -1}
end
if before and name == first then
  return {new_epoch, now, before, first, of.begins, of.ends, of.units}
end
local given = requested < of.units and requested or of.units
if given > 0 then
  of.units = of.units - given
  put(first, of)
end
remember(ARGV[4], ARGV[5], given, first, of)
return {new_epoch, now, given, first, of.begins, of.ends, of.units}
