package io.throttlekit.bench.chaos.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Sends signals that Java's API does not send. */
final class Signals {
  private Signals() {}

  /**
   * Sends a signal.
   *
   * @param name without {@code SIG}
   */
  static void send(String name, long pid) {
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
      if (kill.waitFor() != 0) {
        throw new IllegalStateException("kill -" + name + " " + pid + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
