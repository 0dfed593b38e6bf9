-- What a connection asks before its first call.
--
-- KEYS[2]   the history that counted last
-- ARGV[3]   the history that the caller knows, or ''
-- ARGV[4]   1 where the server writes all that it acknowledges to its disk before, else 0
--
-- Reply: the history ('' where INFO is forbidden), how many replicas the server has, and 1 if an
-- epoch was begun because data may be lost.
local history, replicas, begun = compare_history(ARGV[3], ARGV[4])
if not history then
  return redis.error_reply('READONLY the server is a replica')
end
return {told, history, replicas, begun}
