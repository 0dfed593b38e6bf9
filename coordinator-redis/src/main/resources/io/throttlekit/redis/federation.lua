-- The beginning of every script of a federation.
--
-- KEYS[1]   the epoch of the data (in Redis Cluster one for each tag), as in numbers.lua
-- KEYS[n]   the keys of the script, all in one hash slot
-- ARGV[1]   the epoch that the caller knows, or ''
-- ARGV[2]   the time in ms since 1970, in tests only; else '', for the server's clock
--
-- Reply: a list of the epoch, or '' if the caller knows it, and the script's reply.
--
-- Atomicity: Redis runs a script as one step.
--
-- Numbers are integers of at most 2^53 - 1, so doubles hold them exactly; they are stored as digits.

local MAX = 9007199254740991
-- ms: keys outlive their window by this time, because the clock may step back after a failover to a
-- replica; a test's clock may stand still
local EXPIRY_SLACK = ARGV[2] ~= '' and 3600000 or 10000

local fmod, floor, sub = math.fmod, math.floor, string.sub
local call = redis.call

local clock = call('TIME')
local now = ARGV[2] ~= '' and tonumber(ARGV[2]) or clock[1] * 1000 + floor(clock[2] / 1000)

local function digits(number)
  return string.format('%.0f', number)
end

local function expire_after(key, millis)
  local after = millis - now + EXPIRY_SLACK
  call('PEXPIRE', key, digits(after < MAX and after or MAX))
end
