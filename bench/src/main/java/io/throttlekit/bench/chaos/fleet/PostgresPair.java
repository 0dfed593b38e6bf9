package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.testkit.postgres.PostgresProcess;
import java.sql.SQLException;
import java.util.List;

/**
 * Two PostgreSQL: each commit of the primary waits until its standby has written it to disk. The
 * standby replaces the primary once at most, and then has no standby itself.
 *
 * <p>For one thread, except {@link #kill}.
 */
public final class PostgresPair implements AutoCloseable {
  private final PostgresProcess first;
  private final PostgresProcess standby;
  private volatile PostgresProcess primary;

  private PostgresPair(PostgresProcess first, PostgresProcess standby) {
    this.first = first;
    this.standby = standby;
    this.primary = first;
  }

  /** Creates a standby of a server that has no clients yet. */
  static PostgresPair of(PostgresProcess first) {
    return new PostgresPair(first, first.startStandby("synchronous_standby_names=*"));
  }

  /** Returns the ports of both, on 127.0.0.1. */
  List<Integer> ports() {
    return List.of(first.port(), standby.port());
  }

  /** Returns the current primary. */
  PostgresProcess primary() {
    return primary;
  }

  /**
   * Kills the primary, for good when {@link #promote} follows.
   *
   * @throws IllegalStateException if the standby has been promoted already
   */
  public void killForGood() {
    if (primary == standby) {
      throw new IllegalStateException("the standby has been promoted before");
    }
    primary.kill();
  }

  /** Promotes the standby to primary, and returns once it accepts writes. */
  public void promote() throws SQLException {
    standby.promote();
    primary = standby;
  }

  /** Kills both. */
  void kill() {
    first.kill();
    standby.kill();
  }

  @Override
  public void close() {
    first.close();
    standby.close();
  }
}
