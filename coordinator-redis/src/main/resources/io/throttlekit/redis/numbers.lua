-- Decides a batch of requests on counters, one after the other, as the engine does in memory.
--
-- KEYS[1]   the epoch of the data (one for each hash slot in Redis Cluster): "<id> <lossMillis>",
--           where the id is the time at which it began, in microseconds
-- KEYS[n]   the counters, which requests name by n
-- ARGV[1]   the epoch that the caller knows, or ''
-- ARGV[2]   the requests, packed (see below)
-- ARGV[3]   the time in ms since 1970, in tests only; without it, the server's
--
-- Reply: one string, what each request answers, and the epoch after it if the caller's is another.
--
-- Atomicity: the whole batch is one step for everybody else. Nothing is written before everything
-- is decided, so a script that fails has changed nothing.
--
-- A request is a byte for its kind and then (numbers are little-endian, d is a double):
--   0  one charge                         -> the decision
--   1  lease: a charge of a fixed window  -> d units granted, d end of the window, d now,
--                                            d units still left
--   2  undo: a charge that was counted, d when, d time to which it counts
--                                         -> the decision of its refund
--   3  reset: H counter                   -> nothing
--   4  B whether the request was refused elsewhere already, H claims, each B role, H charges, and
--      its charges                          -> B admitted, the decisions, d now
--   5  a lease that may come twice: as 1, and d sender, d number of the call
--                                         -> as 1; -1 units if a later call was answered
--   6  an undo that may come twice: as 2, and d sender, d number
-- A charge is B flags, H counter, d cost, d limit, d window, d of the algorithm. Its flags are the
-- algorithm (times 16), deny after a loss of data (8), the overrun (0, 1, 2).
-- A decision is B admitted, d remaining, d ms to the reset, d ms to the next try.
--
-- All numbers are whole and at most 2^53 - 1 apart from 0, so doubles hold them exactly. Where a sum
-- of two could be larger, only its comparison with smaller numbers matters, and rounding keeps that.

local MAX = 9007199254740991
local NEVER = 9223372036854775807 -- as a double, which is Java's Long.MAX_VALUE
local REFUSE, COUNT = 0, 2
-- ms: a clock may step back a little, or a replica's be behind; a test's clock may stand still
local EXPIRY_SLACK = ARGV[3] and 3600000 or 1000

local fmod, floor, byte, rep, sub = math.fmod, math.floor, string.byte, string.rep, string.sub
local pack, unpack, call, values = struct.pack, struct.unpack, redis.call, unpack

local clock = call('TIME')
local now = ARGV[3] and tonumber(ARGV[3]) or clock[1] * 1000 + floor(clock[2] / 1000)

-- Whole quotients. fmod is exact, and so is the division of what is left.

local function floor_div(a, b) -- a from 0
  return (a - fmod(a, b)) / b
end

local function ceil_div(a, b)
  local rest = fmod(a, b)
  local quotient = (a - rest) / b
  return rest > 0 and quotient + 1 or quotient
end

-- (high - low) / b, rounded up, where the difference may be beyond MAX
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

-- Sums and products of numbers from 0, at most MAX
local function capped(a)
  return a > MAX and MAX or a
end

local function needed_of(cost, overrun)
  return cost == 0 and overrun ~= COUNT and 1 or cost
end

-- What there is to give back, at a time, of a charge that was made at charged_at, where each ms pays
-- rate: no more than time cannot have paid of it. Had there been no charge, time might have paid what
-- others owed instead, or nothing; so what it has paid since stays, until time has paid that too.
local function unpaid(units, rate, at, charged_at)
  if not charged_at then
    return units
  end
  local left = units - capped((at - charged_at) * rate)
  return left > 0 and left or 0
end

-- Each algorithm takes a state (false when unused), a cost (below 0 to give back), its limits and,
-- to undo a charge, the time to which that counts (the reset after it) and when it was made; and
-- returns the next state, whether it admits, what remains, and ms to the reset and next try.
--
-- A refund as such takes from the newest units; to undo a charge takes only from what was counted
-- at its time, and nothing when that no longer counts: others have been charged for the rest.
