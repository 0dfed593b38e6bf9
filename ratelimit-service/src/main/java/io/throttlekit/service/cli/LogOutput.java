package io.throttlekit.service.cli;

import io.throttlekit.service.RateLimitService;
import java.util.logging.ConsoleHandler;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Sends every log line to standard error, where it does not mix with what commands print. */
final class LogOutput {

  // Held here, because the JDK forgets the level of a logger that nobody holds.
  private static final Logger ROOT = Logger.getLogger("");
  private static final Logger OURS = Logger.getLogger("io.throttlekit");
  private static final Logger LIFECYCLE = Logger.getLogger(RateLimitService.LIFECYCLE);
  private static final Logger DECISIONS = Logger.getLogger("io.throttlekit.service.admission");

  private LogOutput() {}

  /**
   * Replaces what was configured. {@code debug} is about this program alone, since what its
   * libraries say then is many times as much; {@code trace} opens those too. How the service began
   * and ended is told at any level, and decisions not before {@link #openDecisions}.
   *
   * @param level {@code trace}, {@code debug}, {@code info}, {@code warn} or {@code error}
   * @param format {@code text} or {@code json}
   */
  static void configure(String level, String format) {
    Handler handler = new ConsoleHandler();
    handler.setLevel(Level.ALL);
    handler.setFormatter(new LogLine(format.equals("json")));
    for (Handler before : ROOT.getHandlers()) {
      ROOT.removeHandler(before);
    }
    ROOT.addHandler(handler);
    Level ours =
        switch (level) {
          case "trace" -> Level.FINEST;
          case "debug" -> Level.FINE;
          case "warn" -> Level.WARNING;
          case "error" -> Level.SEVERE;
          default -> Level.INFO;
        };
    ROOT.setLevel(level.equals("debug") ? Level.INFO : ours);
    OURS.setLevel(ours);
    LIFECYCLE.setLevel(Level.INFO);
    DECISIONS.setLevel(Level.INFO);
  }

  /** From now on decisions are told at the level of everything else; until then warm up quietly. */
  static void openDecisions() {
    DECISIONS.setLevel(null);
  }
}
