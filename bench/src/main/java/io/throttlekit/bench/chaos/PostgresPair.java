package io.throttlekit.bench.chaos;

import io.throttlekit.testkit.postgres.PostgresProcess;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * Two PostgreSQL: each commit of the primary waits until its standby has it on its disk. The
 * standby takes the place of the primary once at most, and has none itself then.
 *
 * <p>For one thread, but for {@link #kill}.
 */
final class PostgresPair implements AutoCloseable {
  private final PostgresProcess first;
  private final PostgresProcess standby;
  private volatile PostgresProcess primary;

  private PostgresPair(PostgresProcess first, PostgresProcess standby) {
    this.first = first;
    this.standby = standby;
    this.primary = first;
  }

  /** Makes a standby of a server that has no clients yet. */
  static PostgresPair of(PostgresProcess first) {
    return new PostgresPair(first, first.startStandby("synchronous_standby_names=*"));
  }

  /** Where both listen, on 127.0.0.1. */
  List<Integer> ports() {
    return List.of(first.port(), standby.port());
  }

  /** The one that writes. */
  PostgresProcess primary() {
    return primary;
  }

  /**
   * Ends the primary at once, for good when {@link #promote} follows.
   *
   * @throws IllegalStateException when there is no standby any more
   */
  void killForGood() {
    if (primary == standby) {
      throw new IllegalStateException("the standby has been promoted before");
    }
    primary.kill();
  }

  /** Makes the standby the primary, and returns once it writes. */
  void promote() throws SQLException {
    try (Connection connection = standby.connect("postgres");
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_promote()");
    }
    primary = standby;
  }

  /** Ends both at once. */
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
