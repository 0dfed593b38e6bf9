-- What fair shares need of numbers.lua, for the scripts of a federation.
local NEVER = 9223372036854775807 -- Java's Long.MAX_VALUE as a double
local REFUSE, COUNT = 0, 2
local pack, unpack, values = struct.pack, struct.unpack, unpack
