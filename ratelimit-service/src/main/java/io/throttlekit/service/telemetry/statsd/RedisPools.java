package io.throttlekit.service.telemetry.statsd;

/**
 * The connections to the Redis servers of a store, as envoyproxy/ratelimit counts those of its
 * pools. Thread-safe.
 *
 * @param all connections to the store
 * @param perSecond connections to the second Redis, of limits per second
 */
public record RedisPools(RedisPoolStatistics all, RedisPoolStatistics perSecond)
    implements StatsdSource {

  /** Creates statistics without connections. */
  public RedisPools() {
    this(new RedisPoolStatistics("redis_pool"), new RedisPoolStatistics("redis_per_second_pool"));
  }

  @Override
  public void read(Reader reader) {
    all.read(reader);
    perSecond.read(reader);
  }
}
