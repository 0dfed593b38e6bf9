package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.WindowTally.Window;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four processes, one Redis, one limit; offered three times the limit, unevenly. Every test has a
 * counter of its own, and processes that are killed are replaced.
 */
@RealRedis
@Tag("alone")
class FleetTest {
  private static final long LIMIT = 200;
  private static final long WINDOW_MILLIS = 2_000;
  private static final long BATCH = 10;

  /** 3 · LIMIT a window, the busier nodes four times the others: 1.2, 1.2, 0.3 and 0.3 shares. */
  private static final List<Integer> SKEWED = List.of(120, 120, 30, 30);

  private static final List<Integer> NOTHING = List.of(0, 0, 0, 0);
  private static final List<Integer> ALL = List.of(0, 1, 2, 3);
  private static final List<Integer> OTHERS = List.of(1, 2, 3);
  private static final int UNTIL_WARM = 20;

  @TempDir private static Path folder;

  private static final List<ServiceProcess> nodes = new ArrayList<>();
  private static RedisProcess redis;

  @BeforeAll
  static void start() throws Exception {
    redis = RedisProcess.start();
    StringBuilder policies = new StringBuilder("domain: fleet\ndescriptors:\n");
    for (String tier : List.of("strict", "cached_deny", "leased, lease: {size: " + BATCH + "}")) {
      String key = tier.replaceFirst(",.*", "");
      policies.append(
          "  - {key: %s, rate_limit: {requests_per_unit: %d, every: %dms, tier: %s}}\n"
              .formatted(key, LIMIT, WINDOW_MILLIS, tier));
    }
    Path file = Files.writeString(folder.resolve("fleet.yaml"), policies);
    List<Callable<ServiceProcess>> starts = new ArrayList<>();
    for (int n = 0; n < SKEWED.size(); n++) {
      Path log = folder.resolve("node" + n);
      starts.add(() -> startNode(file, log));
    }
    nodes.addAll(Concurrently.all(starts));
    for (String key : List.of("strict", "cached_deny", "leased")) {
      warm(key);
    }
  }

  /** One request after another: four cold processes on a busy machine are late with a hundred. */
  private static void warm(String key) {
    try (Offered offered = new Offered(ports(), NOTHING, WINDOW_MILLIS, key, "warm")) {
      for (int asked = 0; asked < UNTIL_WARM; asked++) {
        offered.once();
      }
    }
  }

  @AfterAll
  static void stop() {
    nodes.forEach(ServiceProcess::close);
    redis.close();
  }

  @Test
  void aLeasingFleetAdmitsExactlyTheLimitInEveryWindow() {
    try (Offered offered = offer("leased", "all")) {
      offered.await("three windows", () -> clearWindows(offered).size() >= 3);
      offered.stop();
      assertThat(offered.failures()).isEmpty();
      assertThat(offered.refused()).isGreaterThan(LIMIT);
      assertThat(clearWindows(offered)).allMatch(window -> window.mayHave(LIMIT));
      assertThat(offered.admitted().overshoot(LIMIT)).as("beyond the limit").isZero();
    }
  }

  @Test
  void onlyUnitsHeldByAKilledNodeAreLostUntilTheirWindowEnds() throws Exception {
    try (Offered offered = offer("leased", "killed")) {
      offered.await("a window", () -> !clearWindows(offered).isEmpty());
      nodes.getFirst().kill();
      long killed = offered.currentWindowEndMillis();
      offered.await("two windows without it", () -> clearAfter(offered, killed).size() >= 2);
      offered.stop();
      assertThat(offered.failures()).as("calls to the killed node").isNotEmpty();
      assertThat(clearWindows(offered, OTHERS)).allMatch(window -> window.isAtLeast(LIMIT - BATCH));
      assertThat(clearWindows(offered)).as("before").allMatch(window -> window.mayHave(LIMIT));
      assertThat(clearAfter(offered, killed)).as("after").allMatch(window -> window.mayHave(LIMIT));
      assertThat(offered.admitted().overshoot(LIMIT)).as("beyond the limit").isZero();
    } finally {
      nodes.set(0, startNode(folder.resolve("fleet.yaml"), folder.resolve("another")));
    }
  }

  @Test
  void aStrictFleetAdmitsExactlyTheLimit() {
    assertAdmitsExactlyTheLimit("strict");
  }

  @Test
  @Tag("thorough")
  void aFleetThatCachesRefusalsAdmitsExactlyTheLimit() {
    assertAdmitsExactlyTheLimit("cached_deny");
  }

  private static void assertAdmitsExactlyTheLimit(String tier) {
    try (Offered offered = offer(tier, "all")) {
      offered.await("two windows", () -> clearWindows(offered).size() >= 2);
      offered.stop();
      assertThat(offered.failures()).isEmpty();
      assertThat(clearWindows(offered)).allMatch(window -> window.mayHave(LIMIT));
      assertThat(offered.admitted().overshoot(LIMIT)).as("beyond the limit").isZero();
    }
  }

  /** Returns the clear windows of the nodes that were not killed, after that of the kill. */
  private static List<Window> clearAfter(Offered offered, long killedMillis) {
    return clearWindows(offered, OTHERS).stream()
        .filter(window -> window.endMillis() > killedMillis)
        .toList();
  }

  private static List<Window> clearWindows(Offered offered) {
    return clearWindows(offered, ALL);
  }

  /**
   * Returns the complete windows whose admitted units are unambiguous despite long answers, and in
   * which each of these nodes has spent its units.
   */
  private static List<Window> clearWindows(Offered offered, List<Integer> nodes) {
    return offered.wholeWindows().stream()
        .filter(window -> window.straddling() <= BATCH && offered.isExhausted(window, 1, nodes))
        .toList();
  }

  private static Offered offer(String key, String value) {
    return new Offered(ports(), SKEWED, WINDOW_MILLIS, key, value);
  }

  private static List<Integer> ports() {
    return nodes.stream().map(ServiceProcess::port).toList();
  }

  private static ServiceProcess startNode(Path policies, Path log) throws Exception {
    return ServiceProcess.start(policies, Map.of("THROTTLEKIT_STORE_URI", redis.url()), 0, log);
  }
}
