package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.util.List;

/** Metrics of the connections and streams of a gRPC server. Thread-safe. */
public final class ServerMetrics implements AutoCloseable {
  private static final AttributeKey<String> REASON = AttributeKey.stringKey("reason");

  private final List<Runnable> removals;

  /**
   * Registers the instruments until {@link #close}.
   *
   * @param prefix of their names
   */
  public ServerMetrics(Meter meter, String prefix, GrpcServer server) {
    OurCounters ours = new OurCounters(meter);
    this.removals =
        List.of(
            ours.gauge(
                prefix + "connections", "gRPC connections that are open", server::openConnections),
            ours.counter(
                prefix + "refused_connections",
                "gRPC connections closed at once because too many were open",
                server::refusedConnections),
            ours.labelled(
                prefix + "closed_connections",
                "gRPC connections closed because of what their clients did",
                measured ->
                    server
                        .closedConnections()
                        .forEach((reason, count) ->
                            measured.record(count, Attributes.of(REASON, reason)))),
            ours.counter(
                prefix + "refused_calls",
                "gRPC calls refused because too many were in progress on their connection",
                server::refusedCalls),
            ours.counter(
                prefix + "refused_streams",
                "gRPC streams ended at once because too many were open",
                server::refusedStreams));
  }

  /** Registers the metrics of the server of decisions, and the number in flight. Call once. */
  public static void ofDecisions(Meter meter, GrpcServer server) {
    var _ = new ServerMetrics(meter, "throttlekit_grpc_", server);
    var _ =
        new OurCounters(meter)
            .gauge(
                "throttlekit_decisions_in_flight",
                "calls that were read and are not answered yet",
                server::callsInProgress);
  }

  /**
   * Registers the counter of clients that the sensors' listener rejects. Call once.
   *
   * @return counts a rejected call
   */
  public static Runnable refusedClients(Meter meter) {
    Metric refused = Metric.SENSORS_REFUSED_CLIENTS;
    ByWord<Metric> counters = new OurCounters(meter).counters(refused, refused);
    return () -> counters.increment(refused);
  }

  /** Removes the instruments. */
  @Override
  public void close() {
    removals.forEach(Runnable::run);
  }
}
