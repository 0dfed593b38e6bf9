package io.throttlekit.testkit.redis;

import io.throttlekit.testkit.TemporaryFolder;
import io.throttlekit.testkit.image.ContainerProcess;
import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A real Redis on a free port of the loopback interface, without persistence. {@link #close} ends
 * it and deletes its folder, at the latest the end of this JVM does.
 *
 * <p>For one thread.
 */
public final class RedisProcess implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 240_000;
  private static final int POLL_MILLIS = 10;

  private final List<String> options;
  private final Path folder;
  private final ReservedPort port;
  private final Thread shutdownHook = new Thread(this::killAndDelete);
  private Process process;

  private RedisProcess(ReservedPort port, Path folder, List<String> options) throws IOException {
    this.port = port;
    this.folder = folder;
    this.options = options;
    this.process = launch();
    Runtime.getRuntime().addShutdownHook(shutdownHook);
  }

  /**
   * Starts one and waits until it answers.
   *
   * @param options as on its command line: {@code --appendonly yes}; the port is chosen here
   */
  public static RedisProcess start(String... options) {
    return start(ReservedPort.take(), options);
  }

  /** Starts one on a given port, which is closed with it. */
  public static RedisProcess start(ReservedPort port, String... options) {
    try {
      Path folder = Files.createTempDirectory("redis");
      RedisProcess redis = new RedisProcess(port, folder, List.of(options));
      redis.awaitAnswer();
      return redis;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns its port on 127.0.0.1. */
  public int port() {
    return port.number();
  }

  /** Returns its URL. */
  public String url() {
    return "redis://127.0.0.1:" + port();
  }

  /** Returns its folder, which is empty at first. */
  public Path folder() {
    return folder;
  }

  /** Returns its process id. */
  public long pid() {
    return process.pid();
  }

  /** Kills it (SIGKILL). */
  public void kill() {
    process.destroyForcibly();
    awaitEnd();
  }

  /** Shuts it down (SIGTERM). */
  public void stop() {
    process.destroy();
    awaitEnd();
  }

  /** Starts it again on the same port, after {@link #kill} or {@link #stop}, without data. */
  public void restart() {
    try {
      process = launch();
      awaitAnswer();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes it hang: connections stay open without answers (SIGSTOP). */
  public void hang() {
    signal("STOP");
  }

  /** Ends {@link #hang} (SIGCONT). */
  public void goOn() {
    signal("CONT");
  }

  /** Makes it hang for {@code millis}, as exactly as a shell can, and returns when it continues. */
  public void pause(long millis) {
    String pid = String.valueOf(pid());
    run(
        "sh",
        "-c",
        "kill -STOP %s; sleep %d.%03d; kill -CONT %s"
            .formatted(pid, millis / 1000, millis % 1000, pid));
  }

  /** Returns the answer to a command whose arguments contain no blanks, as protocol text. */
  public String command(String... words) {
    return RedisCommand.send(port(), words);
  }

  /** Returns the CPU time that it has used, user and system, in microseconds. */
  public long cpuMicros() {
    long micros = 0;
    for (String line : command("INFO", "cpu").lines().toList()) {
      if (line.startsWith("used_cpu_user:") || line.startsWith("used_cpu_sys:")) {
        micros += Math.round(1e6 * Double.parseDouble(line.substring(line.indexOf(':') + 1)));
      }
    }
    return micros;
  }

  /** Returns its log. */
  public String log() {
    try {
      return Files.readString(folder.resolve("log"), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    killAndDelete();
    Runtime.getRuntime().removeShutdownHook(shutdownHook);
    port.close();
  }

  private void killAndDelete() {
    kill();
    TemporaryFolder.delete(folder);
  }

  private Process launch() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(RedisProgram.path().toString());
    if (options.contains("--sentinel")) {
      // it writes to its configuration, so it needs a file
      Path file = folder.resolve("sentinel.conf");
      Files.writeString(file, "");
      command.add(file.toString());
    }
    command.addAll(List.of("--port", String.valueOf(port()), "--bind", "127.0.0.1"));
    command.addAll(List.of("--dir", folder.toString(), "--save", ""));
    command.addAll(options);
    String image = RedisProgram.image();
    if (image != null) {
      return ContainerProcess.start(image, command, folder.resolve("log"));
    }
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
        .start();
  }

  private void awaitAnswer() throws IOException {
    for (int waited = 0; waited < TIMEOUT_MILLIS; waited += POLL_MILLIS) {
      try {
        new Socket(InetAddress.getLoopbackAddress(), port()).close();
        if (!isLoading()) {
          return;
        }
        waitFor(POLL_MILLIS);
      } catch (IOException _) {
        if (waitFor(POLL_MILLIS)) {
          throw new IOException("Redis ended at once:\n" + log());
        }
      }
    }
    throw new IOException("Redis does not answer:\n" + log());
  }

  /** Returns whether it is still loading its file, during which it accepts connections. */
  private boolean isLoading() {
    try {
      var _ = command("PING");
      return false;
    } catch (UncheckedIOException e) { // it may require a password, or TLS
      return String.valueOf(e.getMessage()).contains("LOADING");
    }
  }

  private void awaitEnd() {
    if (!waitFor(TIMEOUT_MILLIS)) {
      throw new IllegalStateException("process " + process.pid() + " does not end");
    }
  }

  private boolean waitFor(int millis) {
    try {
      return process.waitFor(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private void signal(String name) {
    run("kill", "-" + name, String.valueOf(pid()));
  }

  private static void run(String... command) {
    try {
      if (new ProcessBuilder(command).start().waitFor() != 0) {
        throw new IllegalStateException("failed: " + List.of(command));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
