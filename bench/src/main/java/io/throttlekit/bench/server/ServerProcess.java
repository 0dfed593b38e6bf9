package io.throttlekit.bench.server;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.load.LoopbackTarget;
import io.throttlekit.bench.machine.ProcessUsage;
import io.throttlekit.testkit.envoy.LinkedProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A server in a process of its own, from its {@code ready grpc=HOST:PORT …} line until it is
 * closed, and at the latest until this JVM ends.
 */
public final class ServerProcess implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile("ready grpc=(\\S+)(?: http=(\\S+))?(?:.* sensors=(\\S+))?.*");
  // The first start may build the project, on a busy machine.
  private static final Duration START_TIMEOUT = Duration.ofMinutes(10);

  private final String name;
  private final LinkedProcess linked;
  private final LoopbackTarget target;
  private final LoopbackTarget sensors;
  private final @Nullable String http;
  private final long readyNanos;

  private ServerProcess(
      String name,
      LinkedProcess linked,
      LoopbackTarget target,
      LoopbackTarget sensors,
      @Nullable String http,
      long readyNanos) {
    this.name = name;
    this.linked = linked;
    this.target = target;
    this.sensors = sensors;
    this.http = http;
    this.readyNanos = readyNanos;
  }

  /**
   * Starts a server and waits for its ready line.
   *
   * @param name its name in reports
   * @param command a program that stays the same process, or one that replaces itself with exec
   * @param environment variables beside those of this process
   * @param log file for its standard error
   * @throws IOException if it cannot be started, ends early, or is not ready within ten minutes
   */
  public static ServerProcess start(
      String name, List<String> command, Map<String, String> environment, File log)
      throws IOException {
    TimeSource time = TimeSource.system();
    long start = time.monotonicNanos();
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(log);
    builder.environment().putAll(environment);
    LinkedProcess linked = LinkedProcess.start(builder);
    CompletableFuture<String> ready = new CompletableFuture<>();
    Thread.ofVirtual().name(name + "-output").start(() -> read(linked.process(), ready));
    try {
      Matcher line =
          READY.matcher(ready.orTimeout(START_TIMEOUT.toSeconds(), TimeUnit.SECONDS).join());
      if (!line.matches()) {
        throw new IOException(name + " ended before it was ready: see " + log);
      }
      long readyNanos = time.monotonicNanos() - start;
      LoopbackTarget target = LoopbackTarget.parse(line.group(1));
      LoopbackTarget sensors = line.group(3) == null ? target : LoopbackTarget.parse(line.group(3));
      return new ServerProcess(name, linked, target, sensors, line.group(2), readyNanos);
    } catch (IOException | RuntimeException e) {
      linked.close();
      throw e;
    }
  }

  private static void read(Process process, CompletableFuture<String> ready) {
    try (BufferedReader output = process.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (READY.matcher(line).matches()) {
          ready.complete(line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      ready.complete("");
    }
  }

  public String name() {
    return name;
  }

  public LoopbackTarget target() {
    return target;
  }

  /**
   * Returns the address for access logs and load reports: a port of its own, or that of all
   * services.
   */
  public LoopbackTarget sensors() {
    return sensors;
  }

  /** Returns the value of one of its metrics; 0 when the page does not contain it. */
  public double metric(String metric) throws IOException {
    URI page = URI.create("http://" + http + "/metrics");
    try (InputStream body = page.toURL().openStream()) {
      String text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
      return text.lines()
          .filter(line -> line.startsWith(metric + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(metric.length() + 1)))
          .sum();
    }
  }

  public long pid() {
    return linked.process().pid();
  }

  /** Returns the time from the start of the process to its ready line. */
  public long readyNanos() {
    return readyNanos;
  }

  public ProcessUsage usage() throws IOException {
    return ProcessUsage.of(pid());
  }

  /** Returns the arguments of the running process, the program first. */
  public List<String> arguments() throws IOException {
    Path line = Path.of("/proc", Long.toString(pid()), "cmdline");
    return List.of(Files.readString(line).split("\0"));
  }

  /** Sends SIGTERM to the process, and SIGKILL after 15 s. */
  @Override
  public void close() {
    linked.close();
  }
}
