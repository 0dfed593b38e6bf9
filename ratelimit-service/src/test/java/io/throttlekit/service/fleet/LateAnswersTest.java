package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.rate.WindowTally.Window;
import io.throttlekit.redis.RealRedis;
import io.throttlekit.redis.TcpProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three regions of a process and a Redis each, with default settings, behind proxies that make
 * every answer of a store 0 to 50 ms later: to a process from its region's Redis, and from the
 * coordinator. Whatever the delay, a budget is spent whole, and no more than once.
 */
@RealRedis
@Timeout(240)
@Tag("alone")
class LateAnswersTest {
  private static final long MAX_DELAY_MILLIS = 50;
  private static final int REGIONS = 3;

  /** Of each region: enough for its rate where answers take 150 ms. */
  private static final int MAX_UNDER_WAY = 100;

  private static final long DAY_LIMIT = 6_000;
  private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();

  /** Spends the day's limit in 3 s, and asks as often again in 3 s more. */
  private static final List<Integer> DAY_DEMAND = List.of(700, 700, 700);

  private static final Duration MAX_DAY_LOAD = Duration.ofSeconds(30);

  private static final long MINUTE_LIMIT = 10_000;
  private static final long MINUTE_MILLIS = 60_000;

  /** In each region twice the minute's limit, all window long. */
  private static final List<Integer> MINUTE_DEMAND = List.of(340, 340, 340);

  /** Demand is known to every process when the window begins that is counted. */
  private static final long KNOWN_MILLIS = 5_000;

  private static final String POLICIES =
      """
      domain: fleet
      descriptors:
        - key: day
          rate_limit: {requests_per_unit: %d, unit: day, scope: global, on_outage: deny}
        - key: minute
          rate_limit: {requests_per_unit: %d, unit: minute, scope: global, on_outage: deny}
      """
          .formatted(DAY_LIMIT, MINUTE_LIMIT);

  @TempDir private static Path folder;

  private static final List<AutoCloseable> STARTED = new ArrayList<>();
  private static final long SEED = System.nanoTime();
  private static List<ServiceProcess> nodes = List.of();

  @BeforeAll
  static void start() throws Exception {
    System.out.println("seed of the delays: " + SEED);
    Path policies = Files.writeString(folder.resolve("policies.yaml"), POLICIES);
    LeaseStore coordinator = started(LeaseStore.durable(LeaseStore.Kind.REDIS));
    List<Callable<ServiceProcess>> starts = new ArrayList<>();
    for (int region = 0; region < REGIONS; region++) {
      LeaseStore store = started(LeaseStore.forgetful());
      Map<String, String> environment =
          Map.of(
              "THROTTLEKIT_STORE_URI", store.uri(delaying(store, 2 * region).port()),
              "THROTTLEKIT_FEDERATION_REGION", "region" + region,
              "THROTTLEKIT_FEDERATION_COORDINATOR",
                  coordinator.uri(delaying(coordinator, 2 * region + 1).port()));
      Path log = folder.resolve(region + ".log");
      starts.add(() -> ServiceProcess.start(policies, environment, 0, log));
    }
    nodes = Together.all(starts);
    STARTED.addAll(nodes);
    for (ServiceProcess node : nodes) {
      try (Caller caller = new Caller(node, "fleet")) {
        await("stores that answer")
            .atMost(Duration.ofMinutes(1))
            .until(() -> caller.ask("day", "another") == Code.OK);
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    nodes.forEach(ServiceProcess::kill); // what each would give back is not needed
    for (AutoCloseable each : STARTED.reversed()) {
      each.close();
    }
  }

  @Test
  void aDaysBudgetIsSpentWholeInSeconds() throws Exception {
    await("a day that lasts") // the load must not straddle midnight
        .atMost(MAX_DAY_LOAD.multipliedBy(2))
        .until(
            () -> System.currentTimeMillis() % DAY_MILLIS < DAY_MILLIS - MAX_DAY_LOAD.toMillis());
    try (Offered offered = offer(DAY_DEMAND, DAY_MILLIS, "day")) {
      long begun = System.nanoTime();
      offered.await(
          "twice the limit of requests",
          () ->
              offered.refused() >= DAY_LIMIT
                  && (admitted(offered) >= DAY_LIMIT
                      || System.nanoTime() - begun > MAX_DAY_LOAD.toNanos()));
      offered.stop();
      report(offered, offered.admitted().windows(), DAY_LIMIT);
      assertThat(admitted(offered)).as("seed %d", SEED).isEqualTo(DAY_LIMIT);
      assertNothingIsLost(offered);
    }
  }

  private static long admitted(Offered offered) {
    return offered.admitted().windows().stream().mapToLong(Window::units).sum();
  }

  /** Takes up to two minutes, so it is one of the tests of the profile {@code thorough} only. */
  @TestFactory
  Stream<DynamicTest> aMinutesLimitIsSpentWhole() {
    return Boolean.getBoolean("throttlekit.thorough")
        ? Stream.of(dynamicTest("a minute", LateAnswersTest::spendAMinutesLimit))
        : Stream.of();
  }

  private static void spendAMinutesLimit() throws Exception {
    try (Offered offered = offer(MINUTE_DEMAND, MINUTE_MILLIS, "minute")) {
      long first = System.currentTimeMillis() + KNOWN_MILLIS + MINUTE_MILLIS;
      await("a whole minute")
          .atMost(Duration.ofMillis(2 * MINUTE_MILLIS + 2 * KNOWN_MILLIS))
          .until(() -> offered.nowEndsMillis() - MINUTE_MILLIS > first);
      offered.stop();
      List<Window> whole =
          offered.wholeWindows().stream().filter(each -> each.endMillis() > first).toList();
      report(offered, whole, MINUTE_LIMIT);
      assertThat(whole)
          .as("seed %d", SEED)
          .hasSize(1)
          .allMatch(each -> each.isAtLeast(MINUTE_LIMIT * 995 / 1000));
      assertThat(offered.admitted().overshoot(MINUTE_LIMIT))
          .as("seed %d: %s", SEED, offered.admitted().windows())
          .isZero();
      assertNothingIsLost(offered);
    }
  }

  private static Offered offer(List<Integer> perSecond, long windowMillis, String key) {
    List<Integer> ports = nodes.stream().map(ServiceProcess::port).toList();
    Offered offered = new Offered(ports, perSecond, windowMillis, key, "any");
    offered.atMostUnderWay(MAX_UNDER_WAY);
    return offered;
  }

  private static void assertNothingIsLost(Offered offered) throws Exception {
    assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
    for (ServiceProcess node : nodes) {
      try (Caller caller = new Caller(node, "fleet")) {
        assertThat(caller.page("/metrics").lines())
            .filteredOn(line -> line.startsWith("throttlekit_federation_lost_units_total"))
            .as("seed %d", SEED)
            .isNotEmpty()
            .allMatch(line -> line.endsWith(" 0.0") || line.endsWith(" 0"));
      }
    }
  }

  private static void report(Offered offered, List<Window> windows, long limit) {
    System.out.printf(
        "limit %d: admitted %s, overshoot %d, refused %d, failed %s%n",
        limit, windows, offered.admitted().overshoot(limit), offered.refused(), offered.failures());
  }

  private static TcpProxy delaying(LeaseStore store, int number) {
    TcpProxy proxy = started(TcpProxy.to(store.port()));
    proxy.delayReplies(MAX_DELAY_MILLIS, SEED + number);
    return proxy;
  }

  private static <T extends AutoCloseable> T started(T what) {
    STARTED.add(what);
    return what;
  }
}
