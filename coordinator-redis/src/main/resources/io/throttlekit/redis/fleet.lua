-- A concurrency limit and the nodes that divide it, by the rules of FleetState.
--
-- KEYS[2]   a hash of
--   fleet                "<limit> <lease> <until> <name>": the limit, the number of the last steering
--                        lease (both 0 before the first one), when it ends, and the node that holds it
--   <id>:<incarnation>   the node of this name: "<local limit> <sampled> <in flight> <peak> <waiting>
--                        <share> <generation> <may apply> <sequence> <until> <left>". The order
--                        of its bytes is that of FleetState
-- KEYS[3]   the samples that wait for the steering node: a hash of digests by name, each followed by ';'
-- ARGV[3]   the name of the node
--
-- The digests have a key of their own, because a heartbeat reads all nodes.
local INCARNATION = 17 -- the length of ':' and an incarnation
local match, byte = string.match, string.byte
local name = ARGV[3]
local limit, lease, steering_until, steering = 0, 0, 0, ''
local nodes, all, ended = {}, 0, {}

local function reserved(node)
  return node.may_apply > node.in_flight and node.may_apply or node.in_flight
end

local stored = call('HGETALL', KEYS[2])
for i = 1, #stored, 2 do
  local of, value = stored[i], stored[i + 1]
  if of == 'fleet' then
    local total, number, ends, holder = match(value, '^(%d+) (%d+) (%d+) (.*)$')
    limit, lease, steering_until, steering = tonumber(total), tonumber(number), tonumber(ends), holder
  else
    local local_limit, sampled, in_flight, peak, waiting, share, generation, may_apply, sequence, ends, left =
      match(value, '^(%d+) ([01]) (%d+) (%d+) ([01]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01])$')
    ends = tonumber(ends)
    if ends < now then
      ended[#ended + 1] = of
    else
      all = all + 1
      nodes[of] = {
        local_limit = tonumber(local_limit),
        sampled = sampled == '1',
        in_flight = tonumber(in_flight),
        peak = tonumber(peak),
        waiting = waiting == '1',
        share = tonumber(share),
        generation = tonumber(generation),
        may_apply = tonumber(may_apply),
        sequence = tonumber(sequence),
        ends = ends,
        left = left == '1',
      }
    end
  end
end
if #ended > 0 then
  call('HDEL', KEYS[2], unpack(ended))
  call('HDEL', KEYS[3], unpack(ended))
end

local function write(node)
  call('HSET', KEYS[2], name, table.concat({
    digits(node.local_limit), node.sampled and 1 or 0, digits(node.in_flight), digits(node.peak),
    node.waiting and 1 or 0, digits(node.share), digits(node.generation), digits(node.may_apply),
    digits(node.sequence), digits(node.ends), node.left and 1 or 0,
  }, ' '))
end
