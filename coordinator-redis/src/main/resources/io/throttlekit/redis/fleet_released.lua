-- Lowers what is reserved for the nodes of a process that are no members any more.
--
-- ARGV[3]   the number of the process, with which the incarnations of its nodes begin: 8 digits
-- ARGV[4]   permits that were released
--
-- Reply: nothing.
local ended_names, rest = {}, tonumber(ARGV[4])
for of, node in pairs(nodes) do
  if node.left and node.in_flight > 0 and sub(of, 1 - INCARNATION, 8 - INCARNATION) == name then
    ended_names[#ended_names + 1] = of
  end
end
table.sort(ended_names, precedes)
for i = 1, #ended_names do
  local node = nodes[ended_names[i]]
  local permits = rest < node.in_flight and rest or node.in_flight
  if permits > 0 then
    lower(ended_names[i], node, permits)
    rest = rest - permits
  end
end
return {new_epoch}
