package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.Measured;
import io.throttlekit.testkit.WindowTally.Window;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three regions with two processes and a Redis each, behind proxies that make every answer of a
 * store 0 to 50 ms later: to a process from its region's Redis, and from the coordinator. Each
 * region wants twice the limit in every window. Whatever the delay, at least .995 of a limit is
 * admitted, never more than it, and no units are lost.
 */
@RealRedis
@Timeout(600)
@Tag("alone")
@Tag("thorough")
class LateAnswersTest {
  private static final long MAX_DELAY_MILLIS = 50;
  private static final int REGIONS = 3;
  private static final int PROCESSES = 2;

  private static final long LIMIT = 10_000;
  private static final long SPENT = LIMIT * 995 / 1000;

  /** Of each region, in a window. */
  private static final long WANTED = 2 * LIMIT;

  /** Of each process: enough for its rate where answers take 150 ms. */
  private static final int MAX_UNDER_WAY = 100;

  private static final long SECOND_MILLIS = 1_000;
  private static final long MINUTE_MILLIS = 60_000;
  private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();

  /** Judged complete windows of a second, after the first one. */
  private static final int SECONDS = 5;

  private static final Duration MAX_DAY_LOAD = Duration.ofSeconds(20);

  private static final String POLICIES =
      """
      domain: fleet
      descriptors:
        - key: second
          rate_limit: {requests_per_unit: %1$d, unit: second, scope: global, on_outage: deny}
        - key: minute
          rate_limit: {requests_per_unit: %1$d, unit: minute, scope: global, on_outage: deny}
        - key: day
          rate_limit: {requests_per_unit: %1$d, unit: day, scope: global, on_outage: deny}
      """
          .formatted(LIMIT);

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
      LeaseStore store = started(LeaseStore.withoutPersistence());
      Map<String, String> environment =
          Map.of(
              "THROTTLEKIT_STORE_URI", store.uri(delaying(store, 2 * region).port()),
              "THROTTLEKIT_FEDERATION_REGION", "region" + region,
              "THROTTLEKIT_FEDERATION_COORDINATOR",
                  coordinator.uri(delaying(coordinator, 2 * region + 1).port()));
      for (int process = 0; process < PROCESSES; process++) {
        Path log = folder.resolve(region + "-" + process + ".log");
        starts.add(() -> ServiceProcess.start(policies, environment, 0, log));
      }
    }
    nodes = Concurrently.all(starts);
    STARTED.addAll(nodes);
    for (ServiceProcess node : nodes) {
      try (Caller caller = new Caller(node, "fleet")) {
        await("answers of the stores")
            .atMost(Duration.ofMinutes(1))
            .until(() -> caller.ask("day", "another") == Code.OK);
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    nodes.forEach(ServiceProcess::kill); // their returns are not needed
    for (AutoCloseable each : STARTED.reversed()) {
      each.close();
    }
  }

  /**
   * Not judged are the window in which the key began and the first whole one, which lacks the units
   * that were spent with those of the window before it, and those in which the load stood still.
   */
  @Test
  void oneSecondWindowsAreSpentCompletelyFromTheSecondOn() throws Exception {
    List<Long> overshoot = new ArrayList<>();
    Measured.twoOfThree(() -> {
      // Units left in a process, fewer than the largest request, are spent by smaller ones.
      String key = "key " + overshoot.size();
      try (Offered offered = offer("second", key, 100, 500, 100, 20, 4, 1)) {
        offered.await("the first window", () -> !offered.wholeWindows().isEmpty());
        double lostBefore = lostUnits();
        offered.await("windows", () -> offered.wholeWindows().size() > SECONDS);
        double lost = lostUnits() - lostBefore;
        offered.stop();
        List<Window> judged =
            offered.wholeWindows().subList(1, SECONDS + 1).stream()
                .filter(each -> wanted(offered, each.endMillis()) >= WANTED)
                .toList();
        report(offered, judged);
        overshoot.add(offered.admitted().overshoot(LIMIT));
        assertThat(judged)
            .as("windows in which each region demanded twice the limit")
            .hasSizeGreaterThanOrEqualTo(2);
        assertSpent(offered, judged);
        assertThat(lost).as("units lost, seed %d", SEED).isZero();
        assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
      }
    });
    assertThat(overshoot).as("seed %d", SEED).containsOnly(0L);
  }

  @Test
  void aDailyBudgetIsSpentCompletelyWithinSeconds() throws Exception {
    await("a day that lasts") // the load must not straddle midnight
        .atMost(MAX_DAY_LOAD.multipliedBy(4))
        .until(() ->
            System.currentTimeMillis() % DAY_MILLIS < DAY_MILLIS - 3 * MAX_DAY_LOAD.toMillis());
    List<Long> overshoot = new ArrayList<>();
    Measured.twoOfThree(() -> {
      double lostBefore = lostUnits();
      try (Offered offered = offer("day", "key " + overshoot.size(), 200, 25, 5, 1)) {
        long begun = System.nanoTime();
        long day = offered.currentWindowEndMillis();
        offered.await(
            "twice the limit of requests in each region",
            () ->
                wanted(offered, day) >= WANTED
                    && (offered.admitted().window(day).units() >= LIMIT
                        || System.nanoTime() - begun > MAX_DAY_LOAD.toNanos()));
        offered.stop();
        report(offered, offered.admitted().windows());
        overshoot.add(offered.admitted().overshoot(LIMIT));
        assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
        assertThat(offered.admitted().window(day).units()).as("seed %d", SEED).isEqualTo(LIMIT);
        assertThat(lostUnits()).as("units lost, seed %d", SEED).isEqualTo(lostBefore);
      }
    });
    assertThat(overshoot).as("seed %d", SEED).containsOnly(0L);
  }

  /** A window of a minute takes up to two. */
  @Test
  void spendsTheFirstFullMinute() throws Exception {
    double lostBefore = lostUnits();
    try (Offered offered = offer("minute", "any", 180, 1)) {
      await("a whole minute")
          .atMost(Duration.ofMillis(3 * MINUTE_MILLIS))
          .until(() -> !offered.wholeWindows().isEmpty());
      double lost = lostUnits() - lostBefore;
      offered.stop();
      List<Window> judged = offered.wholeWindows();
      report(offered, judged);
      assertWanted(offered, judged);
      assertThat(judged).hasSize(1);
      assertSpent(offered, judged);
      assertThat(offered.admitted().overshoot(LIMIT)).as("seed %d", SEED).isZero();
      assertThat(lost).as("units lost, seed %d", SEED).isZero();
      assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
    }
  }

  private static Offered offer(String key, String value, int perSecond, Integer... costs) {
    long windowMillis =
        switch (key) {
          case "second" -> SECOND_MILLIS;
          case "minute" -> MINUTE_MILLIS;
          default -> DAY_MILLIS;
        };
    List<Integer> ports = nodes.stream().map(ServiceProcess::port).toList();
    List<Integer> rates = Collections.nCopies(nodes.size(), perSecond);
    Offered offered = new Offered(ports, rates, windowMillis, key, value, List.of(costs));
    offered.atMostUnderWay(MAX_UNDER_WAY);
    return offered;
  }

  /** A machine that is too slow to offer the load proves nothing. */
  private static void assertWanted(Offered offered, List<Window> judged) {
    assertThat(judged)
        .as("windows in which each region demanded twice the limit")
        .allMatch(each -> wanted(offered, each.endMillis()) >= WANTED);
  }

  /** Each of them, and all together, where what straddles two windows counts once. */
  private static void assertSpent(Offered offered, List<Window> judged) {
    assertThat(judged).as("seed %d", SEED).allMatch(each -> each.isAtLeast(SPENT));
    long first = judged.getFirst().endMillis();
    long last = judged.getLast().endMillis();
    assertThat(offered.admitted().unitsAtMost(first, last))
        .as("seed %d", SEED)
        .isGreaterThanOrEqualTo(judged.size() * SPENT);
  }

  /** By the region with the least demand. */
  private static long wanted(Offered offered, long windowEndMillis) {
    Window asked = offered.asked().window(windowEndMillis);
    return IntStream.range(0, REGIONS)
        .mapToLong(region ->
            IntStream.range(0, PROCESSES)
                .mapToLong(process -> asked.by(region * PROCESSES + process))
                .sum())
        .min()
        .orElseThrow();
  }

  private static double lostUnits() throws Exception {
    double lost = 0;
    for (ServiceProcess node : nodes) {
      try (Caller caller = new Caller(node, "fleet")) {
        List<String> lines =
            caller
                .page("/metrics")
                .lines()
                .filter(line -> line.startsWith("throttlekit_federation_lost_units_total"))
                .toList();
        assertThat(lines).isNotEmpty();
        for (String line : lines) {
          lost += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        }
      }
    }
    return lost;
  }

  private static void report(Offered offered, List<Window> windows) {
    System.out.printf(
        "admitted %s, overshoot %d, refused %d, failed %s%n",
        windows, offered.admitted().overshoot(LIMIT), offered.refused(), offered.failures());
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
