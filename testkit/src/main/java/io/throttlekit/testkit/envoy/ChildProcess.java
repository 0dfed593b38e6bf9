package io.throttlekit.testkit.envoy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A program that runs beside this one and writes to a log file, ended by {@link #close}, and at the
 * latest with this JVM.
 *
 * <p>Thread-safe.
 */
public final class ChildProcess implements AutoCloseable {
  private static final int POLL_MILLIS = 20;
  private static final Duration SIGNAL_TIMEOUT = Duration.ofMinutes(4);
  private static final int KILL_MILLIS = 15_000;

  private final LinkedProcess linked;
  private final Process process;
  private final Path log;

  private ChildProcess(LinkedProcess linked, Path log) {
    this.linked = linked;
    this.process = linked.process();
    this.log = log;
  }

  /**
   * Starts a program.
   *
   * @param environment set in addition to this process's own
   * @param log receives standard output and standard error
   */
  public static ChildProcess start(List<String> command, Map<String, String> environment, Path log)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    return new ChildProcess(LinkedProcess.start(builder), log);
  }

  /** A condition to wait for. */
  @FunctionalInterface
  public interface Condition {
    /** Returns whether it holds; polled every few milliseconds. */
    boolean holds() throws IOException;
  }

  /**
   * Waits for a condition.
   *
   * @throws IOException with the log, when the program ends before, or the condition does not hold
   *     in time
   */
  public void await(Condition condition, Duration timeout) throws IOException {
    for (long waited = 0; waited < timeout.toMillis(); waited += POLL_MILLIS) {
      if (condition.holds()) {
        return;
      }
      if (awaitEnd(POLL_MILLIS)) {
        throw new IOException("it ended with code " + process.exitValue() + ":\n" + log());
      }
    }
    throw new IOException("it is not ready after " + timeout.toSeconds() + " s:\n" + log());
  }

  /** Waits for a text in the log, as {@link #await}. */
  public MatchResult awaitLog(Pattern words, Duration timeout) throws IOException {
    Matcher[] found = new Matcher[1];
    await(
        () -> {
          found[0] = words.matcher(log());
          return found[0].find();
        },
        timeout);
    return found[0].toMatchResult();
  }

  /** Returns its output. */
  public String log() throws IOException {
    return Files.readString(log, StandardCharsets.UTF_8);
  }

  /** Returns the process id. */
  public long pid() {
    return process.pid();
  }

  /**
   * Kills the program (SIGKILL), as a crash would, also while it is suspended; waits for its end.
   */
  public void kill() throws IOException {
    process.destroyForcibly();
    if (!awaitEnd(KILL_MILLIS)) {
      throw new IOException("process " + pid() + " does not end");
    }
  }

  /**
   * Suspends the program (SIGSTOP): its connections stay open, and nothing is read. Returns when no
   * thread runs any more, which is later than the signal on a busy machine.
   */
  public void suspend() throws IOException {
    signal("STOP");
    await(this::isSuspended, SIGNAL_TIMEOUT);
  }

  /** Continues the program after {@link #suspend} (SIGCONT). */
  public void resume() throws IOException {
    signal("CONT");
  }

  /** Terminates the program (SIGTERM), and kills it after 15 s; has no effect the second time. */
  @Override
  public void close() {
    linked.close();
  }

  private void signal(String name) throws IOException {
    Command.Result sent =
        Command.run(List.of("kill", "-" + name, Long.toString(pid())), SIGNAL_TIMEOUT);
    if (sent.exit() != 0) {
      throw new IOException("kill -%s %d: %s".formatted(name, pid(), sent.lastLine()));
    }
  }

  /** Returns whether no thread runs; true where the system does not say. */
  private boolean isSuspended() throws IOException {
    Path threads = Path.of("/proc", Long.toString(pid()), "task");
    if (!Files.isDirectory(threads)) {
      return true;
    }
    try (Stream<Path> all = Files.list(threads)) {
      for (Path thread : all.toList()) {
        if (!Files.readString(thread.resolve("stat")).contains(") T ")) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns its exit code. */
  public int exitCode() {
    return process.exitValue();
  }

  private boolean awaitEnd(int millis) throws IOException {
    try {
      return process.waitFor(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
