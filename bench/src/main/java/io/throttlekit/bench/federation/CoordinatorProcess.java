package io.throttlekit.bench.federation;

import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.redis.RedisProcess;

/** A coordinator in a process of its own. */
record CoordinatorProcess(String name, int port, String uriFormat, Runnable end)
    implements AutoCloseable {

  /** Starts a Redis that writes every grant to disk before it replies. */
  static CoordinatorProcess redis() {
    RedisProcess redis = RedisProcess.start("--appendonly", "yes", "--appendfsync", "always");
    return new CoordinatorProcess("Redis", redis.port(), "redis://127.0.0.1:%d", redis::close);
  }

  /** Starts a PostgreSQL that does the same. */
  static CoordinatorProcess postgres() {
    PostgresProcess postgres = PostgresProcess.start();
    return new CoordinatorProcess(
        "PostgreSQL",
        postgres.port(),
        "postgresql://" + PostgresProcess.SUPERUSER + "@127.0.0.1:%d/postgres?sslmode=disable",
        postgres::close);
  }

  /** Returns its URI with another port. */
  String uri(int throughPort) {
    return uriFormat.formatted(throughPort);
  }

  @Override
  public void close() {
    end.run();
  }
}
