package io.throttlekit.service.telemetry.policies;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.policies.ControlPlaneStatus;
import io.throttlekit.service.policies.ControlPlaneStatus.RejectedPart;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Metrics of policies that come from a control plane. Without one they have no values. */
public final class ControlPlaneMetrics {
  private static final AttributeKey<String> RESULT = AttributeKey.stringKey("result");
  private static final AttributeKey<String> VERSION = AttributeKey.stringKey("version");
  private static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("domain");

  /** Domains with rejected parts that are named: a control plane may send any number. */
  static final int MAX_DOMAINS = 20;

  private static final String OTHER = "other";
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
    metrics.connected();
    metrics.rejectedParts();
    metrics.timestamp();
    metrics.responses();
    metrics.version();
  }

  private void connected() {
    var _ =
        meter
            .gaugeBuilder("throttlekit_xds_connected")
            .ofLongs()
            .setDescription("1 while there is a connection to the control plane, else 0")
            .buildWithCallback(measured -> {
              ControlPlaneStatus now = status.get();
              if (now != null) {
                measured.record(now.connected() ? 1 : 0);
              }
            });
  }

  /** Registers the gauge, which is 0 without a domain while nothing is rejected. */
  private void rejectedParts() {
    var _ =
        meter
            .gaugeBuilder("throttlekit_xds_rejected_parts")
            .ofLongs()
            .setDescription(
                "Domains and descriptors of the newest response that do not take effect as they"
                    + " were sent")
            .buildWithCallback(measured -> {
              ControlPlaneStatus now = status.get();
              if (now != null) {
                byDomain(now.rejectedParts())
                    .forEach(
                        (domain, parts) -> measured.record(parts, Attributes.of(DOMAIN, domain)));
              }
            });
  }

  private static Map<String, Integer> byDomain(List<RejectedPart> parts) {
    Map<String, Integer> byDomain = new HashMap<>();
    byDomain.put("", 0);
    for (RejectedPart part : parts) {
      boolean named = byDomain.containsKey(part.domain()) || byDomain.size() <= MAX_DOMAINS;
      byDomain.merge(named ? part.domain() : OTHER, 1, Integer::sum);
    }
    return byDomain;
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
