-- The handshake of a connection, before its first call.
--
-- KEYS[2]   the history of the server that counted last
-- ARGV[3]   the history that the caller knows, or ''
-- ARGV[4]   1 if the server writes all data to disk before it acknowledges them, else 0
--
-- Reply: the history ('' if INFO is forbidden), the number of replicas, and 1 if an epoch was begun
-- because data may be lost.
local history, replicas, begun = compare_history(ARGV[3], ARGV[4])
if not history then
  return redis.error_reply('READONLY the server is a replica')
end
return {new_epoch, history, replicas, begun}
