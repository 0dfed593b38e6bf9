-- Removes a node: its requests in flight stay reserved until they have ended by their time to live.
-- Of one that is no member any more, it lowers what is reserved.
--
-- ARGV[4]   requests in flight
--
-- Reply: nothing.
local node, in_flight = nodes[name], tonumber(ARGV[4])
if node and node.left then
  if in_flight < node.in_flight then
    lower(name, node, node.in_flight - in_flight)
  end
elseif node then
  depart(node, in_flight, now + node.permit)
  write(name, node)
  on_digests('HDEL', name)
end
return {new_epoch}
