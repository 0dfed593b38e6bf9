-- Detects a server that may have older data than it, or its predecessor, has acknowledged: it was
-- restarted, or promoted from a replica.
--
-- The last key is the history of the server that counted last: "<replid> <run> <replid2> <node>
-- <durable>", its master_replid, run_id and master_replid2, its node in a Cluster (else -), and 1 if
-- all acknowledged data were on its disk (an append-only file with appendfsync always).
local NO_REPLID = string.rep('0', 40)
-- ms for which a replaced master may still serve clients that do not know of the promotion.
local TAKEOVER_MILLIS = 1000
local match = string.match

-- Whether a node is known here as a master that has not failed. A suspected failure ("fail?"), as on
-- a busy machine, is no replacement.
local function is_master(node)
  local nodes = redis.pcall('CLUSTER', 'NODES')
  -- At the start of a line: the lines of its replicas have its id, too.
  local flags = type(nodes) == 'string' and match('\n' .. nodes, '\n' .. node .. ' %S+ (%S+)') or ''
  return match(flags, 'master') and not match(flags .. ',', 'fail,')
end

local function may_have_forgotten(was, run, replid2, node)
  local was_replid, was_run, was_replid2, was_node, durable =
    match(was, '^(%x+) (%x+) (%x+) (%S+) ([01])')
  if not was_replid then
    return true
  end
  if node ~= was_node then -- a replica has taken over the slot, or the slot has moved
    return replid2 == was_replid or not is_master(was_node)
  end
  if run == was_run then -- may have been a replica in between
    return replid2 ~= NO_REPLID and replid2 ~= was_replid2
  end
  return durable == '0'
    or replid2 ~= NO_REPLID
    or not match(call('INFO', 'persistence'), 'aof_enabled:1')
end

-- Compares this server's history with the one that counted last, and begins an epoch if data may be
-- lost. Returns the history, the number of replicas, and 1 if an epoch was begun; '' if INFO is
-- forbidden, and nil on a replica, whose data another server may overwrite at any time.
local function compare_history(known_history, durable)
  local replication = redis.pcall('INFO', 'replication')
  if type(replication) ~= 'string' then
    return '', 0, 0
  end
  if match(replication, 'role:slave') then
    return nil
  end
  local key = KEYS[#KEYS]
  local replid = match(replication, 'master_replid:(%x+)')
  local replicas = tonumber(match(replication, 'connected_slaves:(%d+)') or 0)
  local was = call('GET', key)
  if was
    and sub(was, 1, 41) == replid .. ' '
    and sub(was, -1) == durable
    and (known_history == '' or known_history == was)
  then
    return was, replicas, 0
  end
  local server = call('INFO', 'server')
  local run = match(server, 'run_id:(%x+)')
  local replid2 = match(replication, 'master_replid2:(%x+)') or NO_REPLID
  local begun = 0
  local node = match(server, 'redis_mode:cluster') and call('CLUSTER', 'MYID') or '-'
  local history = table.concat({replid, run, replid2, node, durable}, ' ')
  -- A loss that another process has detected already shows in the epoch.
  if was and may_have_forgotten(was, run, replid2, node)
    or known_history ~= '' and known_history ~= was and epoch == known
      and may_have_forgotten(known_history, run, replid2, node)
  then
    local id, newest = clock[1] * 1000000 + clock[2], tonumber(match(epoch, '^%d+'))
    local lost = replid2 == NO_REPLID and now or now + TAKEOVER_MILLIS
    loss = lost > loss and lost or loss
    epoch = string.format('%.0f %.0f', id > newest and id or newest + 1, loss)
    new_epoch = epoch
    call('SET', KEYS[1], epoch)
    begun = 1
  end
  if history ~= was then
    call('SET', key, history)
  end
  return history, replicas, begun
end
