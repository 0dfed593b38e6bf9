-- Removes a node: its requests in flight stay reserved until its lease ends.
--
-- ARGV[4]   requests in flight
--
-- Reply: nothing.
local node, in_flight = nodes[name], tonumber(ARGV[4])
if node and not node.left then
  local most = reserved(node)
  node.in_flight = in_flight < most and in_flight or most
  node.sampled, node.peak, node.waiting = false, 0, false
  node.share, node.may_apply, node.left = 0, 0, true
  write(node)
  call('HDEL', KEYS[3], name)
end
return {new_epoch}
