package io.throttlekit.demo;

import io.throttlekit.testkit.envoy.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The service in a process of its own: {@code serve} on this program's class path, on loopback,
 * with a short warm-up, and without the JVM options and AOT cache of {@code bin/throttlekit}.
 */
public final class DemoService implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile("(?m)^ready grpc=\\S+:(\\d+) .*?(?:sensors=\\S+:(\\d+))?$");
  private static final Duration START_TIMEOUT = Duration.ofMinutes(5); // several JVMs start at once

  private final ChildProcess process;
  private int port;
  private int sensorsPort;

  private DemoService(ChildProcess process) {
    this.process = process;
  }

  /**
   * Ports on loopback.
   *
   * @param grpc of the service; 0 is any free port
   * @param debug of the debug pages; 0 is any free port
   * @param sensors for Envoy's reports; 0 is any free port
   */
  public record Ports(int grpc, int debug, int sensors) {
    static final Ports ANY = new Ports(0, 0, 0);
  }

  /** Starts the service with counters in memory, and waits until it is ready. */
  public static DemoService start(Path policy, Path log) throws IOException {
    DemoService service = begin(policy, List.of(), Map.of(), log);
    try {
      int _ = service.awaitPort();
      return service;
    } catch (IOException | RuntimeException e) {
      service.close();
      throw e;
    }
  }

  /**
   * Starts the service without waiting, on free ports; {@link #awaitPort} waits.
   *
   * @param arguments additional ones
   * @param environment additional variables
   */
  static DemoService begin(
      Path policy, List<String> arguments, Map<String, String> environment, Path log)
      throws IOException {
    return begin(policy, Ports.ANY, arguments, environment, log);
  }

  /** Starts the service without waiting, on given ports; {@link #awaitPort} waits. */
  public static DemoService begin(
      Path policy, Ports ports, List<String> arguments, Map<String, String> environment, Path log)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", // C1 only: a quick start matters more than throughput
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path", "")),
                "io.throttlekit.service.cli.Main",
                "serve",
                "--policies=" + policy,
                "--grpc-port=" + ports.grpc(),
                "--http-port=0",
                "--debug-port=" + ports.debug()));
    command.addAll(arguments);
    Map<String, String> settings = new HashMap<>(environment);
    settings.put("THROTTLEKIT_WARM_UP_REQUESTS", "1000");
    settings.put("THROTTLEKIT_SENSORS_LISTEN", "127.0.0.1:" + ports.sensors());
    settings.put("THROTTLEKIT_GRPC_HOST", "127.0.0.1");
    settings.put("THROTTLEKIT_HTTP_HOST", "127.0.0.1");
    settings.put("THROTTLEKIT_DEBUG_HOST", "127.0.0.1");
    return new DemoService(ChildProcess.start(command, settings, log));
  }

  /** Waits until the service is ready. Returns its gRPC port. */
  public int awaitPort() throws IOException {
    if (port == 0) {
      MatchResult ready = process.awaitLog(READY, START_TIMEOUT);
      port = Integer.parseInt(ready.group(1));
      sensorsPort = ready.group(2) == null ? 0 : Integer.parseInt(ready.group(2));
    }
    return port;
  }

  /** Returns the gRPC port, once the service is ready. */
  public int port() {
    return port;
  }

  /** Returns the port for Envoy's reports; 0 if no rule needs them. */
  public int sensorsPort() {
    return sensorsPort;
  }

  /** Returns its process, to kill or to suspend it. */
  public ChildProcess process() {
    return process;
  }

  /** Stops the process, forcibly if necessary. */
  @Override
  public void close() {
    process.close();
  }
}
