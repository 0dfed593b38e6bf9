package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.redis.RealRedis;
import io.throttlekit.redis.RedisProcess;
import io.throttlekit.redis.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three regions with a process and a Redis each, and one coordinator, which each of them reaches by
 * a way of its own; offered three times the limit. What breaks in one test is mended at its end,
 * and every test has a counter of its own.
 */
@RealRedis
@Timeout(120)
class RegionsTest {
  private static final long LIMIT = 200;
  private static final long WINDOW_MILLIS = 2_000;
  private static final List<Integer> SKEWED = List.of(150, 100, 50);

  @TempDir private static Path folder;

  private static final List<RedisProcess> stores = new ArrayList<>();
  private static final List<TcpProxy> ways = new ArrayList<>();
  private static final List<ServiceProcess> nodes = new ArrayList<>();
  private static RedisProcess coordinator;

  @BeforeAll
  static void start() throws IOException {
    coordinator = RedisProcess.start("--appendonly", "yes", "--appendfsync", "always");
    for (int region = 0; region < SKEWED.size(); region++) {
      stores.add(RedisProcess.start());
      ways.add(TcpProxy.to(coordinator.port()));
      nodes.add(startNode(region));
    }
  }

  @AfterAll
  static void stop() {
    nodes.forEach(ServiceProcess::close);
    ways.forEach(TcpProxy::close);
    stores.forEach(RedisProcess::close);
    if (coordinator != null) {
      coordinator.close();
    }
  }

  @Test
  void regionsTogetherAdmitTheLimitInEveryWindow() throws Exception {
    try (Offered offered = offer("together")) {
      run(offered, 5, () -> {});
      assertThat(offered.failed()).isZero();
      assertThat(offered.completeWindows().values())
          .hasSizeGreaterThanOrEqualTo(3)
          .allMatch(units -> units >= LIMIT * 995 / 1000 && units <= LIMIT);
    }
  }

  @Test
  void aRegionThatIsCutOffSpendsWhatItHoldsAndThenRefusesUntilItIsBack() throws Exception {
    try (Offered offered = offer("cut")) {
      run(offered, 2, () -> {});
      ways.getFirst().refuse();
      run(offered, 2, () -> {});
      long before = offered.admittedBy(0);
      long others = offered.admittedBy(1) + offered.admittedBy(2);
      run(offered, 2, () -> {});
      assertThat(offered.admittedBy(0)).as("of the region that is cut off").isEqualTo(before);
      assertThat(offered.admittedBy(1) + offered.admittedBy(2)).isGreaterThan(others + LIMIT);
      ways.getFirst().goOn();
      run(offered, 3, () -> {});
      assertThat(offered.admittedBy(0)).as("once it is back").isGreaterThan(before);
      assertNoWindowIsBeyondItsLimit(offered);
    }
  }

  @Test
  void aCoordinatorThatIsKilledAndComesBackGoesOnWithWhatIsLeft() throws Exception {
    try (Offered offered = offer("killed")) {
      run(
          offered,
          4,
          () -> {
            coordinator.kill();
            coordinator.restart();
          });
      run(offered, 3, () -> {});
      assertNoWindowIsBeyondItsLimit(offered);
      assertThat(offered.completeWindows().lastEntry().getValue())
          .isGreaterThanOrEqualTo(LIMIT * 995 / 1000);
    }
  }

  @Test
  void aCoordinatorThatIsAwayOverAWindowsEndIsSpentAnewOnceItIsBack() throws Exception {
    try (Offered offered = offer("away")) {
      run(offered, 2, () -> {});
      coordinator.kill();
      try {
        run(offered, 2, () -> {});
      } finally {
        coordinator.restart();
      }
      long before = admitted(offered);
      run(offered, 3, () -> {});
      assertThat(admitted(offered)).isGreaterThanOrEqualTo(before + LIMIT);
      assertNoWindowIsBeyondItsLimit(offered);
    }
  }

  @Test
  void aCoordinatorThatHangsIsAsOneThatIsAway() throws Exception {
    try (Offered offered = offer("hanging")) {
      run(offered, 2, () -> {});
      coordinator.hang();
      try {
        run(offered, 2, () -> {});
      } finally {
        coordinator.goOn();
      }
      long before = admitted(offered);
      run(offered, 3, () -> {});
      assertThat(admitted(offered)).isGreaterThanOrEqualTo(before + LIMIT);
      assertNoWindowIsBeyondItsLimit(offered);
    }
  }

  @Test
  void withoutItsOwnStoreARegionLeasesFromTheCoordinator() throws Exception {
    try (Offered offered = offer("alone")) {
      run(offered, 2, () -> {});
      stores.getFirst().kill();
      try {
        long before = offered.admittedBy(0);
        run(offered, 3, () -> {});
        assertThat(offered.admittedBy(0)).isGreaterThan(before);
      } finally {
        stores.getFirst().restart();
      }
      assertNoWindowIsBeyondItsLimit(offered);
    }
  }

  @Test
  void whenBothAreAwayARegionSpendsWhatItsProcessHoldsAndThenRefuses() throws Exception {
    try (Offered offered = offer("both")) {
      run(offered, 2, () -> {});
      stores.getFirst().kill();
      ways.getFirst().refuse();
      try {
        run(offered, 2, () -> {});
        long before = offered.admittedBy(0);
        run(offered, 1, () -> {});
        assertThat(offered.admittedBy(0)).isEqualTo(before);
      } finally {
        ways.getFirst().goOn();
        stores.getFirst().restart();
      }
      long before = offered.admittedBy(0);
      run(offered, 3, () -> {});
      assertThat(offered.admittedBy(0)).isGreaterThan(before);
      assertNoWindowIsBeyondItsLimit(offered);
    }
  }

  @Test
  void aProcessThatIsKilledTakesWhatItHeldWithIt() throws Exception {
    try (Offered offered = offer("crashed")) {
      run(offered, 4, () -> nodes.getFirst().kill());
      assertThat(offered.failed()).as("calls to the process that is gone").isPositive();
      assertNoWindowIsBeyondItsLimit(offered);
    } finally {
      nodes.set(0, startNode(0));
    }
  }

  @Test
  void aRegionThatGoesOnAloneSpendsItsStoresUnitsAndComesBackByAProbe() throws Exception {
    try (Offered offered = new Offered(ports(), WINDOW_MILLIS, "alone", "regional")) {
      run(offered, 2, () -> {});
      ways.getFirst().refuse();
      try {
        run(offered, 2, () -> {});
        long before = offered.admittedBy(0);
        run(offered, 1, () -> {});
        assertThat(offered.admittedBy(0)).as("nothing is left").isEqualTo(before);
      } finally {
        ways.getFirst().goOn();
      }
      long before = offered.admittedBy(0);
      run(offered, 3, () -> {});
      assertThat(offered.admittedBy(0)).as("after a probe").isGreaterThan(before);
      assertNoWindowIsBeyondItsLimit(offered);
    }
  }

  private static void assertNoWindowIsBeyondItsLimit(Offered offered) {
    NavigableMap<Long, Long> windows = offered.allWindows();
    assertThat(windows.values()).hasSizeGreaterThan(3).allMatch(units -> units <= LIMIT);
    assertThat(windows.values()).as("not for want of requests").contains(LIMIT);
  }

  private static long admitted(Offered offered) {
    return offered.admittedBy(0) + offered.admittedBy(1) + offered.admittedBy(2);
  }

  private static Offered offer(String user) {
    return new Offered(ports(), WINDOW_MILLIS, "user", user);
  }

  private static void run(Offered offered, int windows, Runnable midway) throws Exception {
    offered.run(SKEWED, Duration.ofMillis(windows * WINDOW_MILLIS), midway);
  }

  private static List<Integer> ports() {
    return nodes.stream().map(ServiceProcess::port).toList();
  }

  private static ServiceProcess startNode(int region) throws IOException {
    Path policies = folder.resolve("regions.yaml");
    String rule =
        """
          - key: %s
            rate_limit:
              requests_per_unit: %d
              every: %dms
              scope: global
              on_outage: %s
              lease: {size: 5}
        """;
    Files.writeString(
        policies,
        "domain: fleet\ndescriptors:\n"
            + rule.formatted("user", LIMIT, WINDOW_MILLIS, "deny")
            + rule.formatted("alone", LIMIT, WINDOW_MILLIS, "regional_only"));
    Map<String, String> environment = new HashMap<>();
    environment.put("THROTTLEKIT_STORE_URI", stores.get(region).url());
    environment.put("THROTTLEKIT_STORE_DEADLINE", "500ms");
    environment.put("THROTTLEKIT_STORE_DECISION_DEADLINE", "1s");
    environment.put("THROTTLEKIT_STORE_BREAKER_PROBE_AFTER", "100ms");
    environment.put("THROTTLEKIT_FEDERATION_REGION", "r" + region);
    environment.put(
        "THROTTLEKIT_FEDERATION_COORDINATOR", "redis://127.0.0.1:" + ways.get(region).port());
    environment.put("THROTTLEKIT_FEDERATION_DEADLINE", "1s");
    environment.put("THROTTLEKIT_FEDERATION_PROBE_AFTER", "200ms");
    environment.put("THROTTLEKIT_FEDERATION_REGIONAL_LEASES", "4");
    return ServiceProcess.start(policies, environment, 0, folder.resolve("region" + region));
  }
}
