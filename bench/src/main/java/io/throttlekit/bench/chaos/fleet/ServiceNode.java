package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.testkit.envoy.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A process of the service, and its clock. For one thread.
 *
 * @param port of gRPC
 * @param httpPort port of {@code /metrics} for all
 * @param debugPort port of the same for operators
 * @param sensorsPort port for logs and load reports of Envoys
 * @param log file of its output
 */
public record ServiceNode(
    ChildProcess process,
    OffsetClock clock,
    int port,
    int httpPort,
    int debugPort,
    int sensorsPort,
    Path log)
    implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile(
          "(?m)^ready grpc=\\S+:(\\d+) http=\\S+:(\\d+) debug=\\S+?:(\\d+)(?:"
              + " sensors=\\S+:(\\d+))?$");
  // Generous: six processes start at a time.
  private static final Duration MAX_START = Duration.ofMinutes(2);
  private static final int METRICS_TIMEOUT_MILLIS = 2_000; // a paused process does not answer

  /**
   * Starts a process and waits until it serves.
   *
   * @param name of its files in {@code folder}
   * @throws IOException with its log, when it ends before, or does not serve within two minutes
   */
  static ServiceNode start(Path folder, String name, Map<String, String> environment)
      throws IOException {
    Path clock = folder.resolve(name + ".clock");
    Path log = folder.resolve(name + ".log");
    ChildProcess process = ChildProcess.start(command(clock), environment, log);
    try {
      MatchResult ready = process.awaitLog(READY, MAX_START);
      int port = Integer.parseInt(ready.group(1));
      int sensors = ready.group(4) == null ? port : Integer.parseInt(ready.group(4));
      int http = Integer.parseInt(ready.group(2));
      int debug = Integer.parseInt(ready.group(3));
      return new ServiceNode(process, OffsetClock.of(clock), port, http, debug, sensors, log);
    } catch (IOException | RuntimeException e) {
      process.close();
      throw e;
    }
  }

  /**
   * Returns a command for a small process that starts quickly: six of them share the machine with
   * their load.
   */
  private static List<String> command(Path clock) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xmx128m",
        "-XX:+ExitOnOutOfMemoryError",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
        OffsetService.class.getName(),
        clock.toString());
  }

  public boolean alive() {
    return ProcessHandle.of(process.pid()).isPresent();
  }

  /** Passes on its log when it has ended, by itself or not. */
  public void ifEnded(Consumer<Path> log) {
    if (!alive()) {
      log.accept(this.log);
    }
  }

  /** Kills it (SIGKILL). */
  void kill() {
    ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroyForcibly);
  }

  public void pause() {
    Signals.send("STOP", process.pid());
  }

  public void resume() {
    Signals.send("CONT", process.pid());
  }

  /** Returns the sum of a metric over its labels; 0 where it cannot be read. */
  double metric(String name) {
    try {
      URLConnection page =
          URI.create("http://127.0.0.1:" + debugPort + "/metrics").toURL().openConnection();
      page.setConnectTimeout(METRICS_TIMEOUT_MILLIS);
      page.setReadTimeout(METRICS_TIMEOUT_MILLIS);
      try (InputStream body = page.getInputStream()) {
        return new String(body.readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .sum();
      }
    } catch (IOException _) {
      return 0;
    }
  }

  @Override
  public void close() {
    kill(); // an orderly stop would return its leases, which are of no use any more
    process.close();
  }
}
