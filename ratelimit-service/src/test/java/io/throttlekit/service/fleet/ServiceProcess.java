package io.throttlekit.service.fleet;

import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.envoy.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The service as users run it: {@code serve} in a process of its own. */
public final class ServiceProcess implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile(
          "(?m)^ready grpc=\\S+:(\\d+) http=\\S+:(\\d+) debug=\\S+:(\\d+)(?:"
              + " sensors=\\S+:(\\d+))?$");

  /** A quick start, and deadlines that a store keeps on a busy machine, too. */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "THROTTLEKIT_WARM_UP_REQUESTS", "0",
          "THROTTLEKIT_POLICIES_POLL_INTERVAL", "100ms",
          "THROTTLEKIT_SENSORS_LISTEN", "127.0.0.1:0",
          "THROTTLEKIT_STORE_DEADLINE", "20s",
          "THROTTLEKIT_STORE_LEASE_DEADLINE", "20s",
          "THROTTLEKIT_STORE_CONNECT_TIMEOUT", "20s",
          "THROTTLEKIT_STORE_BREAKER_AFTER", "20s");

  private final ChildProcess process;
  private final int port;
  private final int httpPort;
  private final int debugPort;
  private final int sensorsPort;

  private ServiceProcess(
      ChildProcess process, int port, int httpPort, int debugPort, int sensorsPort) {
    this.httpPort = httpPort;
    this.sensorsPort = sensorsPort;
    this.process = process;
    this.port = port;
    this.debugPort = debugPort;
  }

  /**
   * Starts it and waits until it serves.
   *
   * @param policies a file or folder
   * @param environment set in addition
   * @param grpcPort 0 for any free one
   */
  public static ServiceProcess start(
      Path policies, Map<String, String> environment, int grpcPort, Path log) throws IOException {
    Map<String, String> all = new HashMap<>(DEFAULTS);
    all.putAll(environment);
    ChildProcess process = ChildProcess.start(command(policies, grpcPort), all, log);
    try {
      MatchResult ready = process.awaitLog(READY, AwaitLimit.LIMIT);
      return new ServiceProcess(
          process,
          Integer.parseInt(ready.group(1)),
          Integer.parseInt(ready.group(2)),
          Integer.parseInt(ready.group(3)),
          ready.group(4) == null ? 0 : Integer.parseInt(ready.group(4)));
    } catch (IOException | RuntimeException e) {
      process.close();
      throw e;
    }
  }

  public int port() {
    return port;
  }

  public int httpPort() {
    return httpPort;
  }

  public int debugPort() {
    return debugPort;
  }

  /** Returns the address of the sensor port; 0 if no rule needed it at the start. */
  public int sensorsPort() {
    return sensorsPort;
  }

  public String log() throws IOException {
    return process.log();
  }

  /** Kills it (SIGKILL), as a crash would. */
  public void kill() {
    try {
      process.kill();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Suspends it: connections stay open, nothing is read (SIGSTOP). */
  public void hang() throws IOException {
    process.suspend();
  }

  /** Resumes it after {@link #hang}. */
  public void goOn() throws IOException {
    process.resume();
  }

  /** Terminates it (SIGTERM), waits for its end, and returns its exit code. */
  public int stop() throws InterruptedException, TimeoutException {
    Optional<ProcessHandle> running = ProcessHandle.of(process.pid());
    if (running.isPresent()) {
      running.get().destroy();
      try {
        var _ = running.get().onExit().get(AwaitLimit.LIMIT.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException impossible) { // onExit() never completes exceptionally
        throw new IllegalStateException(impossible);
      }
    }
    process.close();
    return process.exitCode();
  }

  @Override
  public void close() {
    process.close();
  }

  private static List<String> command(Path policies, int grpcPort) {
    List<String> command = new ArrayList<>(ServiceJvm.command());
    command.addAll(
        List.of(
            "serve",
            "--policies=" + policies,
            "--grpc-port=" + grpcPort,
            "--http-port=0",
            "--debug-port=0"));
    return command;
  }
}
