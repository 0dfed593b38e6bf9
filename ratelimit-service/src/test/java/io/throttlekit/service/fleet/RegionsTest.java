package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.throttlekit.postgres.RealPostgres;
import io.throttlekit.redis.RealRedis;
import io.throttlekit.redis.TcpProxy;
import io.throttlekit.service.fleet.Offered.Window;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Three regions that share a limit, offered three times of it; with each kind of coordinator at the
 * same time, each with regions of its own. What breaks in one test is mended at its end, and every
 * test has a counter of its own.
 */
@RealRedis
@RealPostgres
@Timeout(120)
class RegionsTest {
  private static final long LIMIT = 200;
  private static final long FULL = LIMIT * 995 / 1000;
  private static final long WINDOW_MILLIS = 2_000;
  private static final long DAY_MILLIS = 24 * 3_600_000;
  private static final long ENDLESS_DAYS = 365_000;
  private static final List<Integer> SKEWED = List.of(150, 100, 50);
  private static final long LEASE = 5;
  private static final int EU = 0;
  private static final int US = 1;

  /** What a region's process and store can have leased of one window and not spent. */
  private static final long HELD = 6 * LEASE;

  @TempDir private static Path folder;

  private static List<RegionalFleet> fleets = List.of();

  /** What a network does to a region. */
  enum Cut {
    REFUSED,
    SWALLOWED;

    void begin(TcpProxy way) {
      switch (this) {
        case REFUSED -> way.refuse();
        case SWALLOWED -> way.hang();
      }
    }
  }

  /** What happens with one kind of coordinator. */
  @FunctionalInterface
  private interface Scenario {
    void on(RegionalFleet fleet) throws Exception;
  }

  @BeforeAll
  static void start() throws Exception {
    List<Callable<RegionalFleet>> starts = new ArrayList<>();
    for (SharedCoordinator.Kind kind : SharedCoordinator.Kind.values()) {
      Path place = Files.createDirectory(folder.resolve(kind.name()));
      starts.add(() -> RegionalFleet.start(kind, place, policies()));
    }
    fleets = Together.all(starts);
  }

  @AfterAll
  static void stop() {
    fleets.forEach(RegionalFleet::close);
  }

  @Test
  void regionsTogetherAdmitTheLimitInEveryWindow() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "together")) {
        long begun = offered.nowEndsMillis();
        awaitWindow(
            offered, "three later", window -> window.endMillis() > begun + 3 * WINDOW_MILLIS);
        assertThat(offered.failed()).isZero();
        assertThat(offered.wholeWindows())
            .filteredOn(window -> window.endMillis() > begun + WINDOW_MILLIS)
            .hasSizeGreaterThanOrEqualTo(2)
            .allMatch(RegionsTest::isFull);
        assertNoWindowIsBeyondItsLimit(offered);
      }
    });
  }

  @ParameterizedTest
  @EnumSource
  void aRegionThatIsCutOffSpendsWhatItHoldsAndThenRefusesUntilItIsBack(Cut cut) throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "cut " + cut)) {
        awaitFullWindow(offered);
        cut.begin(fleet.way(EU));
        try {
          offered.awaitSilenceOf(EU);
          awaitWindow(offered, "of the others", window -> window.by(EU) == 0 && isFull(window));
        } finally {
          fleet.way(EU).goOn();
        }
        awaitWindow(offered, "of all, again", window -> window.by(EU) > 0 && isFull(window));
        assertNoWindowIsBeyondItsLimit(offered);
      }
    });
  }

  @Test
  void aRegionThatGoesOnAloneSpendsItsStoresUnitsAndComesBackByAProbe() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "alone", "regional");
          Caller operator = new Caller(fleet.node(EU))) {
        awaitFullWindow(offered);
        fleet.way(EU).refuse();
        try {
          offered.awaitSilenceOf(EU);
          assertThat(operator.metric("throttlekit_federation_left_alone_total")).isPositive();
          assertThat(operator.metric("throttlekit_federation_coordinator_answers")).isZero();
        } finally {
          fleet.way(EU).goOn();
        }
        awaitWindow(offered, "after a probe", window -> window.by(EU) > 0 && isFull(window));
        assertThat(operator.metric("throttlekit_federation_coordinator_answers")).isOne();
        assertNoWindowIsBeyondItsLimit(offered);
      }
    });
  }

  @Test
  void aCoordinatorThatIsKilledAndComesBackGoesOnWithWhatIsLeft() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "warm")) {
        awaitFullWindow(offered); // a process that is slow at first leases for all who wait
      }
      long window = 5 * WINDOW_MILLIS; // long enough to come back in, on a busy machine
      try (Offered offered = new Offered(fleet.ports(), SKEWED, window, "long", "killed")) {
        long next = offered.nowEndsMillis() + window;
        offered.await("the begin of a window", () -> spent(offered, next) > 0);
        fleet.coordinator().kill();
        long leasedBefore = spent(offered, next) + SKEWED.size() * HELD;
        fleet.coordinator().restart();
        offered.await("the next window", () -> spent(offered, next + window) > 0);
        offered.stop();
        assertThat(spent(offered, next))
            .as("units, some of them leased after")
            .isGreaterThan(leasedBefore);
        assertThat(offered.mostBeyond(5 * LIMIT)).as("beyond the limit").isLessThanOrEqualTo(0);
      }
    });
  }

  @Test
  void aCoordinatorThatIsAwayOverAWindowsEndIsSpentAnewOnceItIsBack() throws Exception {
    onEach(fleet ->
        isAwayOverAWindowsEnd(fleet, "away", SharedCoordinator::kill, SharedCoordinator::restart));
  }

  @Test
  void aCoordinatorThatHangsIsAsOneThatIsAway() throws Exception {
    onEach(fleet ->
        isAwayOverAWindowsEnd(fleet, "hanging", SharedCoordinator::hang, SharedCoordinator::goOn));
  }

  @Test
  void withoutItsOwnStoreARegionLeasesFromTheCoordinator() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "storeless")) {
        awaitFullWindow(offered);
        fleet.store(EU).kill();
        try {
          long leasedAhead = offered.nowEndsMillis() + WINDOW_MILLIS;
          awaitWindow(
              offered,
              "that nothing was leased of before",
              window -> window.endMillis() > leasedAhead && window.by(EU) > 0 && isFull(window));
        } finally {
          fleet.store(EU).restart();
        }
        awaitFullWindow(offered);
        assertNoWindowIsBeyondItsLimit(offered);
      }
    });
  }

  @Test
  void whenBothAreAwayARegionSpendsWhatItsProcessHoldsAndThenRefuses() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "both")) {
        awaitFullWindow(offered);
        fleet.store(EU).kill();
        fleet.way(EU).refuse();
        try {
          offered.awaitSilenceOf(EU);
        } finally {
          fleet.way(EU).goOn();
          fleet.store(EU).restart();
        }
        awaitWindow(offered, "of all, again", window -> window.by(EU) > 0 && isFull(window));
        assertNoWindowIsBeyondItsLimit(offered);
      }
    });
  }

  @Test
  void aProcessThatIsKilledTakesWhatItHeldWithIt() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "crashed")) {
        awaitFullWindow(offered);
        long next = offered.nowEndsMillis() + WINDOW_MILLIS;
        offered.await("the begin of a window", () -> spent(offered, next) > 0);
        fleet.node(EU).kill();
        awaitWindow(offered, "of the others", window -> window.by(EU) == 0 && isFull(window));
        assertThat(offered.failed()).as("calls to the process that is gone").isPositive();
        assertThat(spent(offered, next)).as("but what it held").isBetween(LIMIT - HELD, LIMIT);
        assertNoWindowIsBeyondItsLimit(offered);
      } finally {
        fleet.replaceNode(EU);
      }
    });
  }

  @Test
  void aRegionThatDoesNotAgreeIsRefusedAndToldWhoSaysWhatUntilItDoes() throws Exception {
    onEach(fleet -> {
      try (Caller eu = new Caller(fleet.node(EU), "fleet");
          Caller us = new Caller(fleet.node(US), "fleet")) {
        assertThat(eu.ask("limits")).isEqualTo(Code.OK);
        assertThat(eu.ask("windows")).isEqualTo(Code.OK);
        assertThatThrownBy(() -> us.ask("limits"))
            .isInstanceOfSatisfying(
                StatusRuntimeException.class,
                e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
        assertThat(us.ask("windows")).as("on_outage: deny").isEqualTo(Code.OVER_LIMIT);
        assertThat(fleet.node(US).log())
            .contains("regions do not share the same limits")
            .contains("region us has a budget of 200 per " + ENDLESS_DAYS * DAY_MILLIS + " ms")
            .contains("region eu leased from one of 100 per " + ENDLESS_DAYS * DAY_MILLIS + " ms")
            .contains("region us has a budget of 100 per " + ENDLESS_DAYS / 2 * DAY_MILLIS + " ms");
        assertThat(us.metric("throttlekit_federation_mismatches_total")).isGreaterThanOrEqualTo(2);
        assertThat(us.metric("throttlekit_federation_coordinator_answers")).isOne();
        assertThat(eu.metric("throttlekit_federation_mismatches_total")).isZero();

        fleet.rewrite(US, policies().get(EU));
        await().untilAsserted(() -> assertThat(us.ask("windows")).isEqualTo(Code.OK));
        int admitted = 1; // the one above
        for (int i = 0; i < 100; i++) {
          admitted += eu.ask("limits") == Code.OK ? 1 : 0;
          admitted += us.ask("limits") == Code.OK ? 1 : 0;
        }
        assertThat(admitted).as("of 100").isBetween(100 - (int) HELD, 100);
      }
    });
  }

  private static void isAwayOverAWindowsEnd(
      RegionalFleet fleet,
      String user,
      Consumer<SharedCoordinator> breaks,
      Consumer<SharedCoordinator> mends)
      throws Exception {
    try (Offered offered = offer(fleet, "user", user)) {
      awaitFullWindow(offered);
      breaks.accept(fleet.coordinator());
      try {
        for (int region = 0; region < SKEWED.size(); region++) {
          offered.awaitSilenceOf(region);
        }
      } finally {
        mends.accept(fleet.coordinator());
      }
      awaitFullWindow(offered);
      assertNoWindowIsBeyondItsLimit(offered);
    }
  }

  private static void assertNoWindowIsBeyondItsLimit(Offered offered) {
    offered.stop();
    assertThat(offered.windows()).hasSizeGreaterThan(3);
    assertThat(offered.mostBeyond(LIMIT))
        .as("beyond the limit, of %s", offered.windows())
        .isLessThanOrEqualTo(0);
  }

  /** Waits for a window that began after now and was spent, which shows that all is well. */
  private static void awaitFullWindow(Offered offered) {
    awaitWindow(offered, "that is spent", RegionsTest::isFull);
  }

  private static void awaitWindow(Offered offered, String which, Predicate<Window> condition) {
    long now = offered.nowEndsMillis();
    offered.await(
        "a window " + which,
        () ->
            offered.wholeWindows().stream()
                .anyMatch(window -> window.endMillis() > now && condition.test(window)));
  }

  private static boolean isFull(Window window) {
    return window.units() >= FULL;
  }

  private static long spent(Offered offered, long endMillis) {
    return offered.windows().stream()
        .filter(window -> window.endMillis() == endMillis)
        .mapToLong(Window::units)
        .sum();
  }

  private static Offered offer(RegionalFleet fleet, String key, String value) {
    return new Offered(fleet.ports(), SKEWED, WINDOW_MILLIS, key, value);
  }

  private static void onEach(Scenario scenario) throws Exception {
    List<Callable<Boolean>> all = new ArrayList<>();
    for (RegionalFleet fleet : fleets) {
      all.add(() -> {
        try {
          scenario.on(fleet);
          return true;
        } catch (Throwable e) {
          throw new AssertionError("with a coordinator on " + fleet.kind(), e);
        }
      });
    }
    var _ = Together.all(all);
  }

  /** Of each region. All have the same but for two keys. */
  private static List<String> policies() {
    String all =
        "domain: fleet\ndescriptors:\n"
            + rule("user", LIMIT, WINDOW_MILLIS + "ms", "deny")
            + rule("long", 5 * LIMIT, 5 * WINDOW_MILLIS + "ms", "deny")
            + rule("alone", LIMIT, WINDOW_MILLIS + "ms", "regional_only");
    String ours =
        rule("limits", 100, ENDLESS_DAYS + "d", "error")
            + rule("windows", 100, ENDLESS_DAYS + "d", "deny");
    String theirs =
        rule("limits", 200, ENDLESS_DAYS + "d", "error")
            + rule("windows", 100, ENDLESS_DAYS / 2 + "d", "deny");
    return List.of(all + ours, all + theirs, all + ours);
  }

  private static String rule(String key, long limit, String window, String onOutage) {
    return """
      - key: %s
        rate_limit:
          requests_per_unit: %d
          every: %s
          scope: global
          on_outage: %s
          lease: {size: %d}
    """
        .formatted(key, limit, window, onOutage, LEASE);
  }
}
