-- A concurrency limit and the nodes that divide it, by the rules of FleetState.
--
-- KEYS[2]   a hash of
--   fleet                "<limit> <lease> <until> <name>": the limit, the number of the last steering
--                        lease (both 0 before the first one), when it ends, and the node that holds it.
--                        "<until>!" if that calls for frequent heartbeats
--   <id>:<incarnation>   the node of this name: "<local limit> <sampled> <in flight> <peak> <waiting>
--                        <share> <generation> <may apply> <sequence> <until> <left> <permit>". The
--                        order of its bytes is that of FleetState
-- KEYS[3]   the samples that wait for the steering node: a hash of digests by name, each followed by ';'
-- ARGV[3]   the name of the node
--
-- The digests have a key of their own, because a heartbeat reads all nodes.
--
-- A field that can't be read fails the call: without it, what it reserves would be granted to others.
-- So does one that counts or ends beyond MAX. Digests reserve nothing: where KEYS[3] is of another
-- type, it is deleted.
local INCARNATION = 17 -- the length of ':' and an incarnation
-- as Heartbeat clamps them: requests, and ms
local MAX_REQUESTS, MAX_PERMIT, MAX_UNTIL = 1073741824, 86400000, 3600000 + 86400000
local MAX_TEXT = 200 -- bytes of a message that others may have written
local NAME_END = '^:' .. string.rep('%x', INCARNATION - 1) .. '$'
local match, byte = string.match, string.byte
local name = ARGV[3]
local limit, lease, steering_until, steering, frequent = 0, 0, 0, '', false
local nodes, all, ended = {}, 0, {}
local changed = {} -- names of nodes that have become remnants, or would have ended later than any

-- Whether a name is before another one: by id, then by incarnation. Not a < b, which follows the
-- locale of the server, and has "a!" before "a", because of its ':'.
local function precedes(a, b)
  local id_a, id_b = #a - INCARNATION, #b - INCARNATION
  local last = id_a == id_b and #a or id_a < id_b and id_a or id_b
  local from = 1
  while from < last and sub(a, from, from + 7) == sub(b, from, from + 7) do
    from = from + 8 -- faster than byte by byte, and names have much in common
  end
  for i = from, last do
    local x, y = byte(a, i), byte(b, i)
    if x ~= y then
      return x < y
    end
  end
  return id_a < id_b
end

local function reserved(node)
  return node.may_apply > node.in_flight and node.may_apply or node.in_flight
end

-- Makes a node one that is no member any more, with requests in flight that end at a time.
local function depart(node, in_flight, ends)
  local most = reserved(node)
  node.in_flight = in_flight < most and in_flight or most
  node.ends = node.in_flight > 0 and ends > node.ends and ends or node.ends
  node.sampled, node.peak, node.waiting = false, 0, false
  node.share, node.may_apply, node.left = 0, 0, true
end

-- Returns a text for a log: short, of printable ASCII.
local function printable(text)
  return (string.gsub(sub(text, 1, MAX_TEXT), '[^ -~]', '?')) .. (#text > MAX_TEXT and '...' or '')
end

local function unreadable(what)
  return redis.error_reply('ERR the key ' .. printable(KEYS[2]) .. ' has no data of a concurrency limit: '
    .. printable(what) .. '. Once it is deleted, the nodes begin anew')
end

-- Calls a command on the digests.
local function on_digests(command, ...)
  local reply = redis.pcall(command, KEYS[3], ...)
  if type(reply) == 'table' and reply.err then
    if match(reply.err, 'WRONGTYPE') then
      call('DEL', KEYS[3])
    end
    reply = call(command, KEYS[3], ...)
  end
  return reply
end

local function at_most(most, digits)
  local number = tonumber(digits)
  return number < most and number or most
end

local stored = redis.pcall('HGETALL', KEYS[2])
if stored.err then
  return unreadable(stored.err)
end
for i = 1, #stored, 2 do
  local of, value = stored[i], stored[i + 1]
  if of == 'fleet' then
    local total, number, ends, mark, holder = match(value, '^(%d+) (%d+) (%d+)(!?) (.*)$')
    if not total or tonumber(number) > MAX or tonumber(ends) > MAX then
      return unreadable('fleet ' .. value)
    end
    limit, lease, steering = at_most(MAX_REQUESTS, total), tonumber(number), holder
    steering_until = tonumber(ends)
    frequent = mark == '!'
  else
    local local_limit, sampled, in_flight, peak, waiting, share, generation, may_apply, sequence, ends, left, permit =
      match(value, '^(%d+) ([01]) (%d+) (%d+) ([01]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) ?(%d*)$')
    if not local_limit or not match(of, NAME_END, -INCARNATION) then
      return unreadable(of .. ' ' .. value)
    end
    -- the other numbers are clamped
    if tonumber(generation) > MAX or tonumber(sequence) > MAX or tonumber(ends) > MAX then
      return unreadable(of .. ' ' .. value)
    end
    local node = {
      local_limit = at_most(MAX_REQUESTS, local_limit),
      sampled = sampled == '1',
      in_flight = at_most(MAX_REQUESTS, in_flight),
      peak = at_most(MAX_REQUESTS, peak),
      waiting = waiting == '1',
      share = at_most(MAX_REQUESTS, share),
      generation = tonumber(generation),
      may_apply = at_most(MAX_REQUESTS, may_apply),
      sequence = tonumber(sequence),
      ends = at_most(now + MAX_UNTIL, ends),
      left = left == '1',
      permit = at_most(MAX_PERMIT, permit == '' and '0' or permit), -- none in the rows of an earlier release
    }
    local lapsed = node.ends < now and not node.left
    if lapsed then -- its requests may go on, until their time to live has ended
      depart(node, reserved(node), node.ends + node.permit)
    end
    if node.ends < now then
      ended[#ended + 1] = of
    else
      all = all + 1
      nodes[of] = node
      if lapsed or node.ends < tonumber(ends) then
        changed[#changed + 1] = of
      end
    end
  end
end
for i = 1, #ended do
  call('HDEL', KEYS[2], ended[i])
  on_digests('HDEL', ended[i])
end

local function write(of, node)
  call('HSET', KEYS[2], of, table.concat({
    digits(node.local_limit), node.sampled and 1 or 0, digits(node.in_flight), digits(node.peak),
    node.waiting and 1 or 0, digits(node.share), digits(node.generation), digits(node.may_apply),
    digits(node.sequence), digits(node.ends), node.left and 1 or 0, digits(node.permit),
  }, ' '))
end

for i = 1, #changed do
  write(changed[i], nodes[changed[i]])
  on_digests('HDEL', changed[i])
end

-- Lowers what is reserved for a node that is no member any more.
local function lower(of, node, permits)
  if permits >= node.in_flight then
    call('HDEL', KEYS[2], of)
  else
    node.in_flight = node.in_flight - permits
    write(of, node)
  end
end
