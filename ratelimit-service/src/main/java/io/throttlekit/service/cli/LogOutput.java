package io.throttlekit.service.cli;

import java.util.logging.ConsoleHandler;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Sends every log line to standard error, where it does not mix with what commands print. */
final class LogOutput {

  private LogOutput() {}

  /**
   * Replaces what was configured.
   *
   * @param level {@code trace}, {@code debug}, {@code info}, {@code warn} or {@code error}
   * @param format {@code text} or {@code json}
   */
  static void configure(String level, String format) {
    Handler handler = new ConsoleHandler();
    handler.setLevel(Level.ALL);
    handler.setFormatter(new LogLine(format.equals("json")));
    Logger root = Logger.getLogger("");
    for (Handler before : root.getHandlers()) {
      root.removeHandler(before);
    }
    root.addHandler(handler);
    root.setLevel(
        switch (level) {
          case "trace" -> Level.FINEST;
          case "debug" -> Level.FINE;
          case "warn" -> Level.WARNING;
          case "error" -> Level.SEVERE;
          default -> Level.INFO;
        });
  }
}
