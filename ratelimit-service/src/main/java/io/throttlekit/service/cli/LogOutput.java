package io.throttlekit.service.cli;

import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.log.Redaction;
import java.util.List;
import java.util.logging.ConsoleHandler;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/** Sends every log line to standard error, where it does not mix with the output of commands. */
final class LogOutput {

  // Held here, because the JDK keeps loggers by weak references, and their levels with them.
  private static final Logger ROOT = Logger.getLogger("");
  private static final Logger OURS = Logger.getLogger("io.throttlekit");
  private static final Logger LIFECYCLE = Logger.getLogger(RateLimitService.LIFECYCLE);
  private static final Logger DECISIONS = Logger.getLogger("io.throttlekit.service.admission");

  /** Loggers of libraries that log much of each failure, which this program logs itself. */
  private static final List<Logger> FAILURES =
      Stream.of(
              "com.zaxxer.hikari", // a stack trace for each lost connection to PostgreSQL
              "io.lettuce", // a stack trace for each node of Redis that is not reached
              "io.netty.channel.ChannelInitializer", // a stack trace for each faulty TLS file
              // a line for each frame of a response of a control plane that is not read to its end
              "io.grpc.internal.AbstractClientStream")
          .map(Logger::getLogger)
          .toList();

  /**
   * Loggers that print what is sent, byte by byte: passwords in any character set, what suffices to
   * guess a password of PostgreSQL, headers for control planes.
   */
  private static final List<Logger> SENT =
      Stream.of(
              "io.lettuce.core.protocol.CommandEncoder",
              "io.lettuce.core.protocol.CommandHandler",
              "org.postgresql.core.v3.ConnectionFactoryImpl",
              "org.postgresql.core.v3.ScramAuthenticator",
              "io.grpc.netty.NettyClientHandler")
          .map(Logger::getLogger)
          .toList();

  /** Logs a stack trace for each failed export, which this program reports in one line. */
  private static final Logger EXPORTERS = Logger.getLogger("io.opentelemetry.exporter");

  private LogOutput() {}

  /**
   * Replaces the logging configuration. {@code debug} applies to this program only, since its
   * libraries log many times as much at that level; {@code trace} includes them. The service's
   * start and end are logged at any level, and decisions only after {@link #openDecisions}.
   *
   * @param level {@code trace}, {@code debug}, {@code info}, {@code warn} or {@code error}
   * @param format {@code text} or {@code json}
   * @param redaction hides the secrets of this process
   */
  static void configure(String level, String format, Redaction redaction) {
    Handler handler = new ConsoleHandler();
    handler.setLevel(Level.ALL);
    handler.setFormatter(new LogLine(format.equals("json"), redaction));
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
    Level libraries = level.equals("trace") ? null : Level.SEVERE;
    FAILURES.forEach(logger -> logger.setLevel(libraries));
    // At other levels, their parents' levels are higher already.
    SENT.forEach(logger -> logger.setLevel(level.equals("trace") ? Level.INFO : null));
    EXPORTERS.setLevel(level.equals("trace") ? null : Level.OFF);
  }

  /** Logs decisions at the configured level; until then the warm-up's decisions are not logged. */
  static void openDecisions() {
    DECISIONS.setLevel(null);
  }
}
