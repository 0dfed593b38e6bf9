package io.throttlekit.demo.fleet;

import io.throttlekit.demo.Undo;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.Locale;
import java.util.function.IntFunction;

/** The store that replicas share. */
public enum StoreKind {
  REDIS,
  POSTGRESQL;

  /**
   * A running store.
   *
   * @param port on loopback
   * @param uri of clients that reach it at a given port
   */
  record Running(int port, IntFunction<String> uri) {}

  /** Returns the name in {@code --store}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Starts one that ends with the demo. */
  Running start(Undo started) {
    return switch (this) {
      case REDIS -> {
        RedisProcess redis = RedisProcess.start();
        started.push(redis::close);
        yield new Running(redis.port(), port -> "redis://127.0.0.1:" + port);
      }
      case POSTGRESQL -> {
        PostgresProcess postgres = PostgresProcess.start("fsync=off", "full_page_writes=off");
        started.push(postgres::close);
        yield new Running(
            postgres.port(),
            port ->
                "postgresql://%s:any@127.0.0.1:%d/postgres"
                    .formatted(PostgresProcess.SUPERUSER, port));
      }
    };
  }
}
