-- Takes units out of what a region holds of a counter: of the first window that has begun.
--
-- ARGV[3]   units wanted
--
-- Reply: now, and if a window has begun: units given, end of the window (its name), when it begins
-- and ends here, units left.
local wanted = tonumber(ARGV[3])
local first
for name, of in pairs(windows) do
  if tonumber(of.begins) <= now and (not first or tonumber(name) < tonumber(first)) then
    first = name
  end
end
if not first then
  return {told, now}
end
local of = windows[first]
local given = wanted < of.units and wanted or of.units
if given > 0 then
  of.units = of.units - given
  put(first, of)
end
return {told, now, given, first, of.begins, of.ends, of.units}
