package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A store or coordinator in processes of its own, with the actions of faults. For one thread.
 *
 * @param ports of its servers, on 127.0.0.1
 * @param uri returns its URI with other ports, in the same order
 * @param kill ends the server that writes
 * @param end ends all servers at once; from any thread
 */
public record StoreServer(
    List<Integer> ports,
    Function<List<Integer>, String> uri,
    Runnable kill,
    Runnable restart,
    Runnable pause,
    Runnable resume,
    Runnable end,
    Runnable stop)
    implements AutoCloseable {

  static StoreServer of(RedisProcess redis) {
    return new StoreServer(
        List.of(redis.port()),
        ports -> "redis://127.0.0.1:" + ports.getFirst(),
        redis::kill,
        redis::restart,
        redis::hang,
        redis::goOn,
        redis::kill,
        redis::close);
  }

  /**
   * Restarts a killed Redis without a snapshot that it may have saved.
   *
   * @throws IOException if that cannot be removed
   */
  static void startEmpty(RedisProcess redis) throws IOException {
    Files.deleteIfExists(redis.folder().resolve("dump.rdb"));
    redis.restart();
  }

  static StoreServer of(PostgresPair pair) {
    return new StoreServer(
        pair.ports(),
        ports ->
            ports.stream()
                .map(port -> "127.0.0.1:" + port)
                .collect(
                    Collectors.joining(
                        ",",
                        "postgresql://" + PostgresProcess.SUPERUSER + "@",
                        "/postgres?sslmode=disable")),
        () -> pair.primary().kill(),
        () -> pair.primary().restart(),
        () -> pair.primary().hang(),
        () -> pair.primary().goOn(),
        pair::kill,
        pair::close);
  }

  @Override
  public void close() {
    stop.run();
  }
}
