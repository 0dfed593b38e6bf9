package io.throttlekit.service.telemetry.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.ControlPlaneStatus;
import io.throttlekit.service.policies.ControlPlaneStatus.RejectedPart;
import io.throttlekit.service.telemetry.Telemetry;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ControlPlaneMetricsTest {
  private static final ControlPlaneStatus STATUS = ControlPlaneStatus.of("eg:18001");

  private final AtomicReference<@Nullable ControlPlaneStatus> status = new AtomicReference<>();
  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());

  ControlPlaneMetricsTest() {
    ControlPlaneMetrics.register(telemetry.meter(), status::get);
  }

  @AfterEach
  void stop() {
    telemetry.close();
  }

  @Test
  void withoutAControlPlaneThereAreNone() throws IOException {
    assertThat(series("throttlekit_xds_")).isEmpty();
  }

  @Test
  void rejectedPartsAreCountedByDomain() throws IOException {
    status.set(STATUS);
    assertThat(series("throttlekit_xds_rejected_parts"))
        .containsExactly("throttlekit_xds_rejected_parts{domain=\"\"} 0.0");
    status.set(STATUS.withRejectedParts(List.of(part("a"), part("b"), part("a"))));
    assertThat(series("throttlekit_xds_rejected_parts"))
        .containsExactlyInAnyOrder(
            "throttlekit_xds_rejected_parts{domain=\"\"} 0.0",
            "throttlekit_xds_rejected_parts{domain=\"a\"} 2.0",
            "throttlekit_xds_rejected_parts{domain=\"b\"} 1.0");
  }

  @Test
  void aBoundedNumberOfDomainsIsNamed() throws IOException {
    status.set(
        STATUS.withRejectedParts(IntStream.range(0, 100).mapToObj(i -> part("d" + i)).toList()));
    assertThat(series("throttlekit_xds_rejected_parts"))
        .hasSize(1 + ControlPlaneMetrics.MAX_DOMAINS + 1)
        .contains("throttlekit_xds_rejected_parts{domain=\"other\"} 80.0");
  }

  private static RejectedPart part(String domain) {
    return new RejectedPart(domain, "xds " + domain + ": k: it has no effect");
  }

  private List<String> series(String prefix) throws IOException {
    return Objects.requireNonNull(telemetry.scrape())
        .page(null)
        .body()
        .lines()
        .filter(line -> line.startsWith(prefix))
        .toList();
  }
}
