-- The answers to calls in a window: d sender, d number, d units of the last call of each sender.

-- The number and the units of a sender's last call, and their position
local function last_call(calls, sender)
  for at = 1, #calls, 24 do
    local from, number, units = unpack('<ddd', calls, at)
    if from == sender then
      return number, units, at
    end
  end
  return 0, 0, #calls + 1
end

local function with_call(calls, sender, number, units)
  local _, _, at = last_call(calls, sender)
  return sub(calls, 1, at - 1) .. pack('<ddd', sender, number, units) .. sub(calls, at + 24)
end
