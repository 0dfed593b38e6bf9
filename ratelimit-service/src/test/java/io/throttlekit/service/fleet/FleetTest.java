package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.redis.RealRedis;
import io.throttlekit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Four processes, one Redis, one limit; offered three times the limit, unevenly. */
@RealRedis
@Timeout(180)
class FleetTest {
  private static final long LIMIT = 400;
  private static final long WINDOW_MILLIS = 4_000;
  private static final long BATCH = 10;

  /** 3 · LIMIT a window, the busier nodes four times the others: 1.6, 1.6, 0.4 and 0.4 shares. */
  private static final List<Integer> SKEWED = List.of(120, 120, 30, 30);

  @TempDir private Path folder;

  private final List<ServiceProcess> nodes = new ArrayList<>();
  private RedisProcess redis;

  @BeforeEach
  void startRedis() {
    redis = RedisProcess.start();
  }

  @AfterEach
  void stop() {
    nodes.forEach(ServiceProcess::close);
    redis.close();
  }

  @Test
  void aFleetThatLeasesAdmitsExactlyTheLimitInEveryWindow() throws Exception {
    startNodes("tier: leased, lease: {size: " + BATCH + "}");
    try (Offered offered = new Offered(ports(), WINDOW_MILLIS)) {
      offered.run(SKEWED, Duration.ofMillis(5 * WINDOW_MILLIS), () -> {});
      assertThat(offered.failed()).isZero();
      assertThat(offered.refused()).isGreaterThan(LIMIT);
      assertThat(offered.completeWindows()).hasSizeGreaterThanOrEqualTo(3);
      assertThat(offered.completeWindows().values()).containsOnly(LIMIT);
    }
  }

  @Test
  void whatAKilledNodeHeldIsLostUntilItsWindowEndsAndNothingElse() throws Exception {
    startNodes("tier: leased, lease: {size: " + BATCH + "}");
    try (Offered offered = new Offered(ports(), WINDOW_MILLIS)) {
      offered.run(SKEWED, Duration.ofMillis(7 * WINDOW_MILLIS), () -> nodes.getFirst().kill());
      SortedMap<Long, Long> admitted = offered.completeWindows();
      assertThat(offered.failed()).as("calls to the node that is gone").isPositive();
      assertThat(admitted).hasSizeGreaterThanOrEqualTo(5);
      assertThat(admitted.values()).allMatch(units -> units <= LIMIT);
      assertThat(admitted.values()).allMatch(units -> units >= LIMIT - BATCH);
      assertThat(admitted.values().stream().filter(units -> units != LIMIT))
          .as("windows that the kill cost something")
          .hasSizeLessThanOrEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"strict", "cached_deny"})
  void aFleetThatLeasesNothingAdmitsExactlyTheLimitToo(String tier) throws Exception {
    startNodes("tier: " + tier);
    try (Offered offered = new Offered(ports(), WINDOW_MILLIS)) {
      offered.run(SKEWED, Duration.ofMillis(4 * WINDOW_MILLIS), () -> {});
      assertThat(offered.failed()).isZero();
      assertThat(offered.completeWindows()).hasSizeGreaterThanOrEqualTo(2);
      assertThat(offered.completeWindows().values()).containsOnly(LIMIT);
    }
  }

  private void startNodes(String tier) throws IOException {
    Path policies = folder.resolve("fleet.yaml");
    Files.writeString(
        policies,
        """
        domain: fleet
        descriptors:
          - key: user
            rate_limit: {requests_per_unit: %d, every: %dms, %s}
        """
            .formatted(LIMIT, WINDOW_MILLIS, tier));
    // The machine runs them all, and the load: a deadline for a quiet network would be missed.
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_STORE_URI", redis.url(),
            "THROTTLEKIT_STORE_DEADLINE", "2s",
            "THROTTLEKIT_STORE_DECISION_DEADLINE", "2s");
    for (int n = 0; n < SKEWED.size(); n++) {
      nodes.add(ServiceProcess.start(policies, environment, 0, folder.resolve("node" + n)));
    }
  }

  private List<Integer> ports() {
    return nodes.stream().map(ServiceProcess::port).toList();
  }
}
