package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.server.GrpcServer;
import java.util.function.LongSupplier;

/** Metrics of the connections and streams of a gRPC server. Thread-safe. */
public final class ServerMetrics implements AutoCloseable {
  private final AutoCloseable[] instruments;

  /**
   * Registers the instruments until {@link #close}.
   *
   * @param prefix of their names
   */
  public ServerMetrics(Meter meter, String prefix, GrpcServer server) {
    this.instruments =
        new AutoCloseable[] {
          meter
              .gaugeBuilder(prefix + "connections")
              .ofLongs()
              .setDescription("gRPC connections that are open")
              .buildWithCallback(measured -> measured.record(server.openConnections())),
          counter(
              meter,
              prefix + "refused_connections",
              "gRPC connections closed at once because too many were open",
              server::refusedConnections),
          counter(
              meter,
              prefix + "cut_off_connections",
              "gRPC connections closed because of what their clients held in memory",
              server::cutOffConnections),
          counter(
              meter,
              prefix + "refused_streams",
              "gRPC streams ended at once because too many were open",
              server::refusedStreams)
        };
  }

  /**
   * Registers the counter of clients that the sensors' listener rejects. Call once.
   *
   * @return counts a rejected call
   */
  public static Runnable refusedClients(Meter meter) {
    return new OurCounters(meter)
            .counter(
                "throttlekit_sensors_refused_clients",
                "Calls of clients whose certificates carry no allowed identity")
        ::increment;
  }

  /** Removes the instruments. */
  @Override
  public void close() {
    for (AutoCloseable instrument : instruments) {
      try {
        instrument.close();
      } catch (Exception impossible) { // OpenTelemetry's instruments declare none
        throw new IllegalStateException(impossible);
      }
    }
  }

  private static AutoCloseable counter(
      Meter meter, String name, String description, LongSupplier value) {
    return meter
        .counterBuilder(name)
        .setDescription(description)
        .buildWithCallback(measured -> measured.record(value.getAsLong()));
  }
}
