package io.throttlekit.bench.chaos;

import io.throttlekit.postgres.PostgresProcess;
import io.throttlekit.redis.RedisProcess;
import java.util.function.IntFunction;

/**
 * A store or coordinator in a process of its own, and what can happen to it. For one thread.
 *
 * @param port where it listens, on 127.0.0.1
 * @param uri its address where it is reached by another port
 */
record StoreServer(
    int port,
    IntFunction<String> uri,
    Runnable kill,
    Runnable restart,
    Runnable pause,
    Runnable resume,
    Runnable stop)
    implements AutoCloseable {

  static StoreServer of(RedisProcess redis) {
    return new StoreServer(
        redis.port(),
        port -> "redis://127.0.0.1:" + port,
        redis::kill,
        redis::restart,
        redis::hang,
        redis::goOn,
        redis::close);
  }

  static StoreServer of(PostgresProcess postgres) {
    return new StoreServer(
        postgres.port(),
        port ->
            "postgresql://"
                + PostgresProcess.SUPERUSER
                + "@127.0.0.1:"
                + port
                + "/postgres?sslmode=disable",
        postgres::kill,
        postgres::restart,
        postgres::hang,
        postgres::goOn,
        postgres::close);
  }

  @Override
  public void close() {
    stop.run();
  }
}
