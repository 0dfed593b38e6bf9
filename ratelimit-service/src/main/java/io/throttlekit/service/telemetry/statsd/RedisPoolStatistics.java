package io.throttlekit.service.telemetry.statsd;

import java.util.concurrent.atomic.LongAdder;

/** Connections to Redis, as envoyproxy/ratelimit counts those of its pool. Thread-safe. */
public final class RedisPoolStatistics implements StatsdSource {
  private final String name;
  private final LongAdder opened = new LongAdder();
  private final LongAdder closed = new LongAdder();

  /**
   * Creates statistics without connections.
   *
   * @param name {@code redis_pool}, {@code redis_per_second_pool}
   */
  public RedisPoolStatistics(String name) {
    this.name = name;
  }

  /** Returns the name of the pool. */
  public String name() {
    return name;
  }

  /** Counts a connection that was opened. */
  public void opened() {
    opened.increment();
  }

  /** Counts a connection that was lost or closed. */
  public void closed() {
    closed.increment();
  }

  /** Returns the connections opened so far. */
  public long total() {
    return opened.sum();
  }

  /** Returns the connections closed so far, by either side. */
  public long closedTotal() {
    return closed.sum();
  }

  /** Returns the connections that are open. */
  public long active() {
    return Math.max(0, opened.sum() - closed.sum());
  }

  @Override
  public void read(Reader reader) {
    if (total() > 0) { // otherwise there may be no Redis
      String pool = "ratelimit." + name + '.';
      reader.gauge(pool + "cx_active", active());
      reader.counter(pool + "cx_total", total());
      reader.counter(pool + "cx_local_close", closedTotal());
    }
  }
}
