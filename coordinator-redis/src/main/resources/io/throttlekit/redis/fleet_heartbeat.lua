-- Records a heartbeat of a node and grants it a share.
--
-- ARGV[4]   how one limit comes of what the nodes measure: MIN, MEDIAN or POOLED
-- ARGV[5]   how it is divided: EQUAL or DEMAND
-- ARGV[6]   1 to reserve a lower share in full until the node has acknowledged it
-- ARGV[7]   the number of the heartbeat
-- ARGV[8]   the node's own limit
-- ARGV[9]   1 if that has a vote
-- ARGV[10]  requests in flight
-- ARGV[11]  the most since the last heartbeat, not less than those
-- ARGV[12]  1 if requests were refused since then
-- ARGV[13]  generation of the share that the node applies
-- ARGV[14]  ms until its lease ends
-- ARGV[15]  the steering lease under which the node computed a limit, or ''
-- ARGV[16]  that limit
-- ARGV[17]  a digest of samples, without ';', or ''
-- ARGV[18]  ms for which requests of the node may last after its lease
-- ARGV[19]  1 if the node calls for frequent heartbeats, with the limit that it computed
--
-- Reply: status, share, limit, what the nodes may apply together, members, generation, name of the steering node, the number of its lease
-- if it is this node (else 0), 1 if another member has the id of this one, 1 if that node calls for frequent heartbeats; the number of nodes that
-- are no members any more but have requests in flight, name and requests of each of these, in turn;
-- and name and digests of each node, in turn, for the steering node.
local MAX_NODES, MAX_DIGESTS = 1000, 4
local STEERING_MILLIS, TURN_MILLIS = 1750, 5000
local MAX_STEERING_MILLIS = 2 * STEERING_MILLIS -- the clock may step back; see FleetState
-- ms: how long the limit is kept without any node. Longer than any lease, with the slack of expiries;
-- not shorter than requests may last.
local KEPT_MILLIS = 3600000

-- How many members satisfy a condition, and how many of these are before this node.
local function rank(is)
  local found, before = 0, 0
  for of, node in pairs(nodes) do
    if not node.left and is(node) then
      found = found + 1
      before = before + (precedes(of, name) and 1 or 0)
    end
  end
  return found, before
end

local function members()
  local found = 0
  for _, node in pairs(nodes) do
    found = found + (node.left and 0 or 1)
  end
  return found
end

local function applied()
  local sum = 0
  for _, node in pairs(nodes) do
    sum = sum + node.may_apply
  end
  return sum
end

local function answer(status, share, generation)
  local steers, twins, often = 0, 0, 0
  if status == 'MEMBER' then
    local id = sub(name, 1, -INCARNATION)
    for of, node in pairs(nodes) do
      if not node.left and #of == #name and sub(of, 1, #id) == id then
        twins = twins + 1
      end
    end
    steers = steering == name and lease or 0
    often = frequent and 1 or 0
  end
  local reply = {new_epoch, status, share, limit > 0 and limit or 1, applied(), members(), generation,
    sub(steering, 1, -INCARNATION - 1), steers, twins > 1 and 1 or 0, often, 0}
  local count = #reply
  for of, node in pairs(nodes) do
    if node.left and node.in_flight > 0 then
      reply[count] = reply[count] + 1
      reply[#reply + 1] = of
      reply[#reply + 1] = node.in_flight
    end
  end
  return reply
end

local known, sequence = nodes[name], tonumber(ARGV[7])
if known and known.left or not known and sequence ~= 1 then
  return answer('EVICTED', 0, 0)
elseif not known and all >= MAX_NODES then
  return answer('FULL', 0, 0)
elseif known and sequence <= known.sequence then
  return answer('MEMBER', known.share, known.generation)
end

-- what the node reports
local acknowledged = ARGV[6] == '1'
local self = known or {share = 0, generation = 0, may_apply = 0}
local in_flight = tonumber(ARGV[10])
if known and acknowledged and reserved(known) < in_flight then
  in_flight = reserved(known) -- no more than was reserved before; a new node may bring requests along
end
if not acknowledged or tonumber(ARGV[13]) == self.generation then
  self.may_apply = self.share
end
self.in_flight, self.peak = in_flight, tonumber(ARGV[11])
self.local_limit, self.sampled, self.waiting = tonumber(ARGV[8]), ARGV[9] == '1', ARGV[12] == '1'
self.sequence, self.ends, self.left = sequence, now + tonumber(ARGV[14]), false
self.permit = tonumber(ARGV[18])
nodes[name] = self

-- who steers
local holder = nodes[steering]
if steering == name or not holder or holder.left or steering_until < now
    or steering_until > now + MAX_STEERING_MILLIS then
  frequent = false -- so it ends with the lease of a node that died
  if steering == name then
    lease = lease > 0 and lease or 1
    if ARGV[15] == digits(lease) then
      limit = tonumber(ARGV[16])
      frequent = ARGV[19] == '1'
    end
  else
    lease = fmod(lease, MAX) + 1
  end
  steering, steering_until = name, now + STEERING_MILLIS
end

-- the limit
local votes = {}
if ARGV[4] ~= 'POOLED' then
  for _, node in pairs(nodes) do
    if node.sampled then -- none that has left
      votes[#votes + 1] = node.local_limit
    end
  end
  table.sort(votes)
end
if #votes > 0 then
  limit = votes[ARGV[4] == 'MIN' and 1 or floor((#votes + 1) / 2)]
elseif limit == 0 then
  limit = self.local_limit
end

-- the share: of what is not reserved for nodes that are no members any more, but at least of a
-- permit for each member
local available = limit
for _, node in pairs(nodes) do
  if node.left then
    available = available - node.in_flight
  end
end
local least = limit < members() and limit or members()
available = available > least and available or least

local function is_active(node)
  return node.peak > 0 or node.waiting
end

local function is_satisfied(node)
  return node.peak < node.share
end

local function equal_part(permits, rank, parts)
  local rest = fmod(permits, parts)
  return (permits - rest) / parts + (rank < rest and 1 or 0)
end

local function claim(node)
  return node.share > 1 and node.share or 1
end

-- What the node may keep while the shares exceed the limit; see DemandSplit.
local function kept()
  local claims, sum = {}, 0
  for _, node in pairs(nodes) do
    if not node.left then
      claims[#claims + 1] = claim(node)
      sum = sum + claim(node)
    end
  end
  if sum <= available then
    return available
  end
  table.sort(claims)
  local rest, above, next_one = available, #claims, 1
  while claims[next_one] * above <= rest do
    rest = rest - claims[next_one]
    above = above - 1
    next_one = next_one + 1
  end
  local extra = fmod(rest, above)
  local level = (rest - extra) / above
  if claim(self) <= level then
    return claim(self)
  end
  local _, before = rank(function(node) return claim(node) > level end)
  return level + (before < extra and 1 or 0)
end

-- What the node uses and one more, or an equal part of what others do not use.
local function demanded()
  local used = 0
  for _, node in pairs(nodes) do
    if not node.left and is_satisfied(node) then
      used = used + node.peak + 1
    end
  end
  local unused = available > used and available - used or 0
  local hungry, before = rank(function(node) return not is_satisfied(node) end)
  if not is_satisfied(self) then
    local part = equal_part(unused, before, hungry)
    return part > 1 and part or 1
  elseif hungry > 0 then
    return self.peak + 1
  end
  local all, first = rank(function() return true end)
  return self.peak + 1 + equal_part(unused, first, all) -- room for a burst that no other node wants
end

local function target()
  if ARGV[5] == 'EQUAL' then
    local parts, before = rank(function() return true end)
    return equal_part(available, before, parts)
  elseif available < members() then -- they take turns, active ones first
    local turn
    if is_active(self) then
      local active, before = rank(is_active)
      turn = fmod(before - fmod(floor(now / TURN_MILLIS) * available, active) + active, active)
    else
      local idle, before = rank(function(node) return not is_active(node) end)
      turn = members() - idle + before
    end
    return turn < available and 1 or 0
  end
  local most, demand = kept(), demanded()
  return demand < most and demand or most
end

local free = limit + reserved(self)
for _, node in pairs(nodes) do
  free = free - reserved(node)
end
local most = free > self.share and free or self.share
local share = target()
share = share < most and share or most
if self.generation == 0 or share ~= self.share then
  self.generation = fmod(self.generation, MAX) + 1
end
self.share = share
self.may_apply = acknowledged and self.may_apply > share and self.may_apply or share

write(name, self)
call('HSET', KEYS[2], 'fleet',
  digits(limit) .. ' ' .. digits(lease) .. ' ' .. digits(steering_until) .. (frequent and '! ' or ' ') .. steering)
if ARGV[17] ~= '' then
  local digests = (on_digests('HGET', name) or '') .. ARGV[17] .. ';'
  local _, waiting = string.gsub(digests, ';', ';')
  if waiting > MAX_DIGESTS then
    digests = match(digests, ';(.*)$')
  end
  call('HSET', KEYS[3], name, digests)
  expire_after(KEYS[3], now + KEPT_MILLIS)
end
local kept_until = now + KEPT_MILLIS
for _, node in pairs(nodes) do
  local ends = node.left and node.ends or node.ends + node.permit
  kept_until = ends > kept_until and ends or kept_until
end
expire_after(KEYS[2], kept_until)

local reply = answer('MEMBER', share, self.generation)
if steering == name then
  local digests = on_digests('HGETALL')
  for i = 1, #digests do
    reply[#reply + 1] = digests[i]
  end
  call('DEL', KEYS[3])
end
return reply
