package io.throttlekit.service.telemetry.policies;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.policies.ControlPlaneStatus;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Metrics of policies that come from a control plane. Without one they have no values. */
public final class ControlPlaneMetrics {
  private static final AttributeKey<String> RESULT = AttributeKey.stringKey("result");
  private static final AttributeKey<String> VERSION = AttributeKey.stringKey("version");
  private static final double MILLIS_PER_SECOND = 1_000;

  private final Meter meter;
  private final Supplier<@Nullable ControlPlaneStatus> status;

  private ControlPlaneMetrics(Meter meter, Supplier<@Nullable ControlPlaneStatus> status) {
    this.meter = meter;
    this.status = status;
  }

  /**
   * Registers the metrics.
   *
   * @param status is read at every collection; returns null where policies come from files
   */
  public static void register(Meter meter, Supplier<@Nullable ControlPlaneStatus> status) {
    ControlPlaneMetrics metrics = new ControlPlaneMetrics(meter, status);
    metrics.gauge(
        "throttlekit_xds_connected",
        "1 while there is a connection to the control plane, else 0",
        now -> now.connected() ? 1 : 0);
    metrics.gauge(
        "throttlekit_xds_rejected_parts",
        "Domains and descriptors of the newest response that do not take effect as they were sent",
        now -> now.rejectedParts().size());
    metrics.timestamp();
    metrics.responses();
    metrics.version();
  }

  private void gauge(String name, String description, ToLongFunction<ControlPlaneStatus> value) {
    var _ =
        meter
            .gaugeBuilder(name)
            .ofLongs()
            .setDescription(description)
            .buildWithCallback(measured -> {
              ControlPlaneStatus now = status.get();
              if (now != null) {
                measured.record(value.applyAsLong(now));
              }
            });
  }

  private void timestamp() {
    var _ =
        meter
            .gaugeBuilder("throttlekit_xds_last_accepted_timestamp_seconds")
            .setDescription(
                "Unix time of the newest response that was accepted as a whole; 0 for none")
            .buildWithCallback(measured -> {
              ControlPlaneStatus now = status.get();
              if (now != null) {
                measured.record(now.acceptedMillis() / MILLIS_PER_SECOND);
              }
            });
  }

  private void responses() {
    var _ =
        meter
            .counterBuilder("throttlekit_xds_responses")
            .setDescription(
                "Responses of the control plane, by whether they were accepted as a whole")
            .buildWithCallback(measured -> {
              ControlPlaneStatus now = status.get();
              if (now != null) {
                measured.record(now.accepted(), Attributes.of(RESULT, "accepted"));
                measured.record(now.rejected(), Attributes.of(RESULT, "rejected"));
              }
            });
  }

  /** Registers the version as a label, because it is a text. */
  private void version() {
    var _ =
        meter
            .gaugeBuilder("throttlekit_xds_version")
            .ofLongs()
            .setDescription("1, with the version of the newest response of the control plane")
            .buildWithCallback(measured -> {
              ControlPlaneStatus now = status.get();
              if (now != null && now.receivedMillis() > 0) {
                measured.record(1, Attributes.of(VERSION, now.version()));
              }
            });
  }
}
