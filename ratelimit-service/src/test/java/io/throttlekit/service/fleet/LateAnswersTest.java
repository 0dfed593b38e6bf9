package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
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
import org.junit.jupiter.api.io.TempDir;

/**
 * Three regions with two processes and a Redis each, behind proxies that make every answer of a
 * store 0 to 50 ms later: to a process from its region's Redis, and from the coordinator. Each
 * region wants twice the limit in every window. Whatever the delay, at least .995 of a limit is
 * admitted, never more than it, and no units are lost.
 */
@RealRedis
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

  /** Of a process in a window that is judged: several of each cost. */
  private static final int REFUSALS = 10;

  private static final List<Integer> PROCESS_NUMBERS =
      IntStream.range(0, REGIONS * PROCESSES).boxed().toList();

  private static final long SECOND_MILLIS = 1_000;
  private static final long MINUTE_MILLIS = 60_000;
  private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();

  /** Judged complete windows of a second, after the first one. */
  private static final int SECONDS = 3;

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
  private static final long SEED = 1;
  private static List<ServiceProcess> nodes = List.of();

  @BeforeAll
  static void start() throws Exception {
    Path policies = Files.writeString(folder.resolve("policies.yaml"), POLICIES);
    LeaseStore coordinator = started(LeaseStore.durable(LeaseStore.Kind.REDIS));
    List<Callable<ServiceProcess>> starts = new ArrayList<>();
    for (int region = 0; region < REGIONS; region++) {
      LeaseStore store = started(LeaseStore.withoutPersistence());
      Map<String, String> environment =
          Map.of(
              "THROTTLEKIT_STORE_URI",
              store.uri(delaying(store, 2 * region).port()),
              "THROTTLEKIT_FEDERATION_REGION",
              "region" + region,
              "THROTTLEKIT_FEDERATION_COORDINATOR",
              coordinator.uri(delaying(coordinator, 2 * region + 1).port()),
              "THROTTLEKIT_FEDERATION_DEADLINE",
              "20s");
      for (int process = 0; process < PROCESSES; process++) {
        Path log = folder.resolve(region + "-" + process + ".log");
        starts.add(() -> ServiceProcess.start(policies, environment, 0, log));
      }
    }
    nodes = Concurrently.all(starts);
    STARTED.addAll(nodes);
    for (ServiceProcess node : nodes) {
      try (Caller caller = new Caller(node, "fleet")) {
        await("answers of the stores").until(() -> caller.ask("day", "another") == Code.OK);
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
    // Units left in a process, fewer than the largest request, are spent by smaller ones.
    try (Offered offered = offer("second", "any", 100, 500, 100, 20, 4, 1)) {
      offered.await("the first window", () -> !offered.wholeWindows().isEmpty());
      double lostBefore = lostUnits();
      offered.await("exhausted windows", () -> exhausted(offered, 1).size() >= SECONDS);
      double lost = lostUnits() - lostBefore;
      offered.stop();
      List<Window> judged = exhausted(offered, 1);
      report(offered, judged);
      assertThat(judged).as("seed %d", SEED).allMatch(each -> each.isAtLeast(SPENT));
      assertThat(offered.admitted().overshoot(LIMIT)).as("seed %d", SEED).isZero();
      assertThat(lost).as("units lost, seed %d", SEED).isZero();
      assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
    }
  }

  @Test
  void aDailyBudgetIsSpentCompletely() throws Exception {
    if (!isDaysBudgetSpent("key")) { // midnight was in between, and is a day away now
      assertThat(isDaysBudgetSpent("key after midnight")).isTrue();
    }
  }

  /** Returns whether a budget was spent; false if its day ended before. */
  private static boolean isDaysBudgetSpent(String key) throws Exception {
    double lostBefore = lostUnits();
    try (Offered offered = offer("day", key, 200, 25, 5, 1)) {
      long day = offered.currentWindowEndMillis();
      offered.await(
          "twice the limit of requests in each region, and that the limit is spent",
          () ->
              offered.currentWindowEndMillis() > day
                  || (wanted(offered, day) >= WANTED
                      && offered.admitted().window(day).units() >= LIMIT));
      offered.stop();
      report(offered, offered.admitted().windows());
      assertThat(offered.admitted().overshoot(LIMIT)).as("seed %d", SEED).isZero();
      assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
      if (offered.currentWindowEndMillis() > day) {
        return false;
      }
      assertThat(offered.admitted().window(day).units()).as("seed %d", SEED).isEqualTo(LIMIT);
      assertThat(lostUnits()).as("units lost, seed %d", SEED).isEqualTo(lostBefore);
      return true;
    }
  }

  /** A window of a minute takes up to two. */
  @Test
  void spendsTheFirstFullMinute() throws Exception {
    double lostBefore = lostUnits();
    try (Offered offered = offer("minute", "any", 180, 1)) {
      offered.await("a whole minute", () -> !offered.wholeWindows().isEmpty());
      double lost = lostUnits() - lostBefore;
      offered.stop();
      List<Window> judged = exhausted(offered, 0);
      report(offered, judged);
      assertThat(judged).as("a minute in which each process spent all that it could").hasSize(1);
      assertThat(judged).as("seed %d", SEED).allMatch(each -> each.isAtLeast(SPENT));
      assertThat(offered.admitted().overshoot(LIMIT)).as("seed %d", SEED).isZero();
      assertThat(lost).as("units lost, seed %d", SEED).isZero();
      assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
    }
  }

  /** Returns the whole windows from a first one on in which each process surely refused often. */
  private static List<Window> exhausted(Offered offered, int first) {
    List<Window> whole = offered.wholeWindows();
    return whole.subList(Math.min(first, whole.size()), whole.size()).stream()
        .filter(each -> offered.isExhausted(each, REFUSALS, PROCESS_NUMBERS))
        .toList();
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
    return new Offered(ports, rates, windowMillis, key, value, List.of(costs));
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
