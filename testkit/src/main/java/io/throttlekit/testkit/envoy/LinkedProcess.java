package io.throttlekit.testkit.envoy;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * A process that ends by {@link #close}, and at the latest with this JVM, however that is ended
 * (but for SIGKILL).
 *
 * <p>Thread-safe.
 */
public final class LinkedProcess implements AutoCloseable {
  private static final int SECONDS_TO_END = 15;

  private final Process process;
  private final Thread endWithJvm = Thread.ofPlatform().unstarted(this::end);

  private LinkedProcess(Process process) {
    this.process = process;
  }

  /**
   * Starts a process.
   *
   * @throws IllegalStateException when the JVM is ending; the process has ended then
   */
  public static LinkedProcess start(ProcessBuilder builder) throws IOException {
    LinkedProcess linked = new LinkedProcess(builder.start());
    try {
      Runtime.getRuntime().addShutdownHook(linked.endWithJvm);
    } catch (IllegalStateException ending) {
      linked.process.destroyForcibly();
      throw ending;
    }
    return linked;
  }

  /** Returns the process itself. */
  public Process process() {
    return process;
  }

  /** Terminates the process (SIGTERM), and kills it after 15 s; has no effect the second time. */
  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(endWithJvm);
    } catch (IllegalStateException e) {
      // The JVM is ending: the hook runs anyway.
    }
  }

  private void end() {
    process.destroy();
    try {
      if (!process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
