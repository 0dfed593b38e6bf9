package io.throttlekit.service.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.log.Redaction;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogOutputTest {

  private static final Logger ROOT = Logger.getLogger("");

  private final List<Handler> before = List.of(ROOT.getHandlers());

  @AfterEach
  void restore() {
    LogOutput.configure("info", "text", Redaction.NONE);
    LogOutput.openDecisions();
    for (Handler handler : ROOT.getHandlers()) {
      ROOT.removeHandler(handler);
    }
    before.forEach(ROOT::addHandler);
  }

  @ParameterizedTest
  @CsvSource({
    "trace, FINEST,  FINEST",
    "debug, FINE,    INFO",
    "info,  INFO,    INFO",
    "warn,  WARNING, WARNING",
    "error, SEVERE,  SEVERE"
  })
  void debugCoversThisProgramAndTraceItsLibraries(String level, String ours, String libraries) {
    LogOutput.configure(level, "text", Redaction.NONE);
    assertThat(lowest("io.throttlekit.service.policies.X")).isEqualTo(Level.parse(ours));
    assertThat(lowest("io.grpc.netty.X")).isEqualTo(Level.parse(libraries));
  }

  @ParameterizedTest
  @CsvSource({"info, SEVERE", "debug, SEVERE", "trace, FINEST"})
  void failedConnectionsToStoresAreNotLoggedOneByOne(String level, String pool) {
    LogOutput.configure(level, "text", Redaction.NONE);
    assertThat(lowest("com.zaxxer.hikari.pool.PoolBase")).isEqualTo(Level.parse(pool));
    assertThat(lowest("io.lettuce.core.cluster.topology.X")).isEqualTo(Level.parse(pool));
    assertThat(lowest("io.netty.channel.ChannelInitializer")).isEqualTo(Level.parse(pool));
    assertThat(lowest("io.grpc.internal.AbstractClientStream")).isEqualTo(Level.parse(pool));
  }

  @Test
  void whatIsSentToStoresAndControlPlanesIsLoggedAtNoLevel() {
    LogOutput.configure("trace", "text", Redaction.NONE);
    assertThat(lowest("io.lettuce.core.protocol.CommandEncoder")).isEqualTo(Level.INFO);
    assertThat(lowest("org.postgresql.core.v3.ConnectionFactoryImpl")).isEqualTo(Level.INFO);
    assertThat(lowest("org.postgresql.core.v3.ScramAuthenticator")).isEqualTo(Level.INFO);
    assertThat(lowest("io.grpc.netty.NettyClientHandler")).isEqualTo(Level.INFO);
  }

  @ParameterizedTest
  @CsvSource({"info, OFF", "debug, OFF", "error, OFF", "trace, FINEST"})
  void failedExportsAreNotLoggedByTheirLibrary(String level, String exporters) {
    LogOutput.configure(level, "text", Redaction.NONE);
    for (String name : List.of("HttpExporter", "GrpcExporter")) {
      Logger logger =
          Logger.getLogger(
              "io.opentelemetry.exporter.internal." + name.substring(0, 4) + "." + name);
      assertThat(logger.isLoggable(Level.SEVERE)).isEqualTo(level.equals("trace"));
    }
    assertThat(lowest("io.opentelemetry.exporter.otlp.X")).isEqualTo(Level.parse(exporters));
  }

  @Test
  void lifecycleLinesAreLoggedAtAnyLevel() {
    LogOutput.configure("error", "text", Redaction.NONE);
    assertThat(Logger.getLogger(RateLimitService.LIFECYCLE).isLoggable(Level.INFO)).isTrue();
  }

  @Test
  void decisionsAreLoggedOnlyAfterTheWarmUp() {
    String decisions = "io.throttlekit.service.admission.DecisionLog";
    LogOutput.configure("debug", "text", Redaction.NONE);
    assertThat(lowest(decisions)).as("while warming up").isEqualTo(Level.INFO);
    LogOutput.openDecisions();
    assertThat(lowest(decisions)).isEqualTo(Level.FINE);
  }

  private static Level lowest(String logger) {
    Logger asked = Logger.getLogger(logger);
    return List.of(Level.FINEST, Level.FINE, Level.INFO, Level.WARNING, Level.SEVERE).stream()
        .filter(asked::isLoggable)
        .findFirst()
        .orElse(Level.OFF);
  }
}
