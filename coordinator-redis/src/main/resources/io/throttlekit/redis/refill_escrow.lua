-- Puts units of a counter into the escrow, each refill once.
--
-- KEYS[3]   the refills of the window: a set
-- ARGV[3]   end of the window by the coordinator's clock, which names the window
-- ARGV[4]   the id of the refill
-- ARGV[5]   units
-- ARGV[6]   from when on they can be spent, by this clock
-- ARGV[7]   from when on they cannot be spent
--
-- Reply: 1 if they can be spent, 0 if they came too late.
local name, units, begins, ends = ARGV[3], tonumber(ARGV[5]), ARGV[6], ARGV[7]
if tonumber(ends) <= now then
  return {new_epoch, 0}
end
if call('SADD', KEYS[3], ARGV[4]) == 1 then
  local of = windows[name] or {units = 0, begins = begins, ends = ends}
  local sum = of.units + units
  of.units = sum > MAX and MAX or sum
  of.begins = tonumber(begins) < tonumber(of.begins) and begins or of.begins
  of.ends = tonumber(ends) > tonumber(of.ends) and ends or of.ends
  put(name, of)
  expire_after(KEYS[3], tonumber(of.ends))
  expire_after(KEYS[2], tonumber(of.ends) > last and tonumber(of.ends) or last)
end
return {new_epoch, 1}
