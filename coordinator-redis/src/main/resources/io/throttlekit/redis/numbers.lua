-- Decides a batch of requests on counters in order, with the results of the in-memory store.
--
-- KEYS[1]   the epoch of the data (one for each hash slot in Redis Cluster): "<id> <lossMillis>",
--           where the id is the time at which it began, in microseconds
-- KEYS[n]   the counters, which requests refer to by n; one that tenants share has three keys from n on
-- ARGV[1]   the epoch that the caller knows, or ''
-- ARGV[2]   the requests, packed (see below)
-- ARGV[3]   the time in ms since 1970, in tests only; without it, the server's clock
--
-- Reply: one string, the answers to the requests, and then the epoch if the caller's is another.
--
-- Atomicity: Redis runs the whole batch as one step. Nothing is written before everything is decided,
-- so a script that fails has changed nothing.
--
-- A request is a byte for its kind, followed by (little-endian, d is a double, H 16 bits, B 8 bits):
--   0  one charge                         -> the decision
--   1  lease: a charge of a fixed window  -> d units granted, d end of the window, d now,
--                                            d units left, and for a tenant d its limit
--   2  undo: a counted charge, d when it was counted, d until when it counts
--                                         -> the decision of its refund
--   3  reset: H counter                   -> nothing
--   4  B whether the request was refused elsewhere already, H claims, each B role, H charges, and
--      its charges                          -> B admitted, the decisions, d now
--   5  a lease that may be repeated: as 1, and d sender, d number of the call
--                                         -> as 1; -1 units if a later call was answered
--   6  an undo that may be repeated: as 2, and d sender, d number
--   7  reset of a tenant: a charge        -> nothing
-- A charge is B flags, H counter, d cost, d limit, d window, d of the algorithm. Its flags are the
-- algorithm (times 16), deny after a loss of data (8), and the overrun (0, 1, 2). For a window that
-- tenants share, that of the algorithm is the weight, below 0 if it is not listed, followed by d parts
-- of a unit, d millionths for unlisted tenants, d tenants at most, H length and the tenant's name.
-- A decision is B admitted, d remaining, d ms until the reset, d ms until the retry; for a tenant, the
-- limit follows as d.
--
-- All numbers are integers from -(2^53 - 1) to 2^53 - 1, so doubles hold them exactly. Where a sum
-- of two could be larger, only its comparison with smaller numbers matters, which rounding keeps.

local MAX = 9007199254740991
local NEVER = 9223372036854775807 -- Java's Long.MAX_VALUE as a double
local REFUSE, COUNT = 0, 2
-- ms: a clock may step back a little, or a replica's may be behind; a test's clock may stand still
local EXPIRY_SLACK = ARGV[3] and 3600000 or 1000

local fmod, floor, byte, rep, sub = math.fmod, math.floor, string.byte, string.rep, string.sub
local pack, unpack, call, values = struct.pack, struct.unpack, redis.call, unpack

local clock = call('TIME')
local now = ARGV[3] and tonumber(ARGV[3]) or clock[1] * 1000 + floor(clock[2] / 1000)

-- Integer division. fmod is exact, and so is the division of the difference.

local function floor_div(a, b) -- a is at least 0
  return (a - fmod(a, b)) / b
end

local function ceil_div(a, b)
  local rest = fmod(a, b)
  local quotient = (a - rest) / b
  return rest > 0 and quotient + 1 or quotient
end

-- (high - low) / b, rounded up, where the difference may exceed MAX
local function ceil_div_gap(high, low, b)
  if high - low <= MAX then
    return ceil_div(high - low, b)
  end
  local over, under = fmod(high, b), fmod(-low, b)
  local quotient = (high - over) / b + (-low - under) / b
  if over > b - under then
    return quotient + 2
  end
  return (over > 0 or under > 0) and quotient + 1 or quotient
end

-- Caps sums and products of numbers from 0 at MAX
local function capped(a)
  return a > MAX and MAX or a
end

local function needed_of(cost, overrun)
  return cost == 0 and overrun ~= COUNT and 1 or cost
end

-- The part of a charge that an undo may return at time `at`, if the charge was made at charged_at and
-- each ms pays off rate units: at most what time has not paid off. Without the charge, time would have
-- paid off other debts instead, or nothing, so what it has paid off stays counted.
local function unpaid(units, rate, at, charged_at)
  if not charged_at then
    return units
  end
  local left = units - capped((at - charged_at) * rate)
  return left > 0 and left or 0
end

-- Each algorithm takes a state (false when unused), a cost (negative to refund), its limits and, to
-- undo a charge, the time until which that counts (the reset after it) and when it was made. It
-- returns the next state, whether it admits, what remains, and the ms until the reset and the retry.
--
-- A refund takes from the newest units. An undo takes only from units that were counted at the time
-- of the charge, and nothing once that no longer counts: the rest are charges of other requests.
