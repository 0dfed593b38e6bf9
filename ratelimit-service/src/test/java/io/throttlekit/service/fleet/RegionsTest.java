package io.throttlekit.service.fleet;

import static io.throttlekit.service.fleet.RegionPolicies.ENDLESS_MILLIS;
import static io.throttlekit.service.fleet.RegionPolicies.LEASE;
import static io.throttlekit.service.fleet.RegionPolicies.LIMIT;
import static io.throttlekit.service.fleet.RegionPolicies.WINDOW_MILLIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.throttlekit.testkit.WindowTally.Window;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Three regions that share a limit, offered three times of it; with a coordinator on PostgreSQL,
 * and if thorough with one on Redis at the same time, each with regions of its own. Every test
 * restores at its end what it broke, and every test has a counter of its own.
 */
@RealRedis
@RealPostgres
@Tag("alone")
class RegionsTest {
  private static final long FULL = LIMIT * 995 / 1000;
  private static final List<Integer> SKEWED = List.of(75, 50, 25);
  private static final List<Integer> NOTHING = List.of(0, 0, 0);

  /** Of a region: the rest of it waits in its store. */
  private static final long REGIONAL = 4 * LEASE;

  private static final int EU = 0;
  private static final int US = 1;
  private static final int AP = 2;
  private static final int MAX_TRIES = 50;

  /** Units of one window that a region's process and store can hold unspent. */
  private static final long HELD = 6 * LEASE;

  @TempDir private static Path folder;

  private static final boolean THOROUGH = Boolean.getBoolean("throttlekit.thorough");

  private static List<RegionalFleet> fleets = List.of();

  /** A scenario with one kind of coordinator. */
  @FunctionalInterface
  private interface Scenario {
    void on(RegionalFleet fleet) throws Exception;
  }

  @BeforeAll
  static void start() throws Exception {
    List<Callable<RegionalFleet>> starts = new ArrayList<>();
    for (LeaseStore.Kind kind : kinds()) {
      Path place = Files.createDirectory(folder.resolve(kind.name()));
      starts.add(() -> RegionalFleet.start(kind, place, RegionPolicies.ofEachRegion()));
    }
    fleets = Concurrently.all(starts);
  }

  // Only one of each pair unless thorough: another test covers the other.

  private static List<LeaseStore.Kind> kinds() {
    return THOROUGH ? List.of(LeaseStore.Kind.values()) : List.of(LeaseStore.Kind.POSTGRESQL);
  }

  static Stream<Cut> cuts() {
    return THOROUGH ? Stream.of(Cut.values()) : Stream.of(Cut.SWALLOWED);
  }

  static Stream<Fault> coordinatorFaults() {
    return THOROUGH ? Stream.of(Fault.values()) : Stream.of(Fault.STOPPED);
  }

  static Stream<Fault> storeFaults() {
    return THOROUGH ? Stream.of(Fault.values()) : Stream.of(Fault.KILLED);
  }

  @AfterAll
  static void stop() throws Exception {
    onEach(RegionalFleet::close);
  }

  @Test
  void regionsTogetherAdmitTheLimitInEveryWindow() throws Exception {
    onEach(fleet -> {
      long window = 2 * WINDOW_MILLIS;
      long lostBefore = lostUnits(fleet);
      try (Offered offered = new Offered(fleet.ports(), SKEWED, window, "steady", "together")) {
        long begun = offered.currentWindowEndMillis();
        offered.await("spent windows", () -> spent(offered, begun + window).size() >= 2);
        assertThat(offered.failures()).isEmpty();
        assertNoWindowIsBeyond(2 * LIMIT, offered);
        long lost = lostUnits(fleet) - lostBefore;
        assertThat(spent(offered, begun + window))
            .as("but for at most %d units that slow stores lost", lost)
            .allMatch(each -> each.isAtLeast(2 * FULL - lost));
      }
    });
  }

  @Test
  void unitsHeldAtTheEndOfAWindowAreNotSpentInTheNext() throws Exception {
    onEach(fleet -> {
      int tries = 1;
      while (!isSpentAfterAnUnspentWindow(fleet, "held " + tries)) {
        assertThat(tries++).as("windows that were not spent").isLessThan(MAX_TRIES);
      }
    });
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void aDisconnectedRegionSpendsItsUnitsThenRefusesUntilReconnected(Cut cut) throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "cut " + cut)) {
        awaitFullWindow(offered);
        cut.begin(fleet.way(EU));
        try {
          offered.awaitWindow("of the others", window -> window.by(EU) == 0 && isFull(window));
        } finally {
          fleet.way(EU).goOn();
        }
        offered.awaitWindow("of all regions again", window -> window.by(EU) > 0 && isFull(window));
        assertNoWindowIsBeyond(LIMIT, offered);
        assertThat(offered.failures()).as("neither admitted nor refused").isEmpty();
      }
    });
  }

  @Test
  @Tag("thorough")
  void aRegionInRegionalOnlyModeSpendsItsEscrowAndRecoversByAProbe() throws Exception {
    onEach(fleet -> {
      try (Caller one = new Caller(fleet.node(EU), "fleet");
          Caller other = new Caller(fleet.neighbour(), "fleet")) {
        String counter = leaseForTheRegion(one, "endless alone", "regional");
        try (Offered offered = offer(fleet, "alone", "regional")) {
          awaitFullWindow(offered);
          fleet.way(EU).refuse();
          try {
            assertThat(one.admittedOf(LEASE, "endless alone", counter))
                .as("units left in one process, and then those of the store")
                .isEqualTo(LEASE);
            assertThat(other.admittedOf(1, "endless alone", counter))
                .as("units of the store, by a process without any")
                .isOne();
            long more =
                other.admittedOf(REGIONAL, "endless alone", counter)
                    + one.admittedOf(REGIONAL, "endless alone", counter);
            assertThat(1 + LEASE + 1 + more).as("all leased units").isEqualTo(REGIONAL);
            offered.awaitSilenceOf(EU);
            for (Caller each : List.of(one, other)) {
              assertThat(each.metric("throttlekit_federation_not_called_total")).isPositive();
              assertThat(each.metric("throttlekit_federation_coordinator_answers")).isZero();
            }
          } finally {
            fleet.way(EU).goOn();
          }
          offered.awaitWindow("after a probe", window -> window.by(EU) > 0 && isFull(window));
          assertThat(one.metric("throttlekit_federation_coordinator_answers")).isOne();
          assertNoWindowIsBeyond(LIMIT, offered);
        }
        await().until(() -> other.ask("endless alone", counter) == Code.OK);
        long after = 1 + other.admittedOf(LIMIT, "endless alone", counter);
        assertThat(REGIONAL + after).as("of the limit").isEqualTo(LIMIT);
      }
    });
  }

  @Test
  void aRestartedCoordinatorContinuesWithTheRemainingBudget() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "warm")) {
        awaitFullWindow(offered); // a process that is slow at first leases for all waiting requests
      }
      try (Offered offered =
          new Offered(fleet.ports(), SKEWED, ENDLESS_MILLIS, "endless", "killed")) {
        long window = offered.currentWindowEndMillis();
        offered.await("some", () -> offered.admitted().window(window).units() > 0);
        fleet.coordinator().kill();
        long leasedBefore = offered.admitted().window(window).units() + SKEWED.size() * HELD;
        fleet.coordinator().restart();
        offered.await(
            "units that were leased after",
            () -> offered.admitted().window(window).units() > leasedBefore);
        long refused = offered.refused();
        offered.await("that all units are spent", () -> offered.refused() > refused + LIMIT);
        offered.stop();
        assertThat(offered.admitted().overshoot(5 * LIMIT)).as("beyond the limit").isZero();
      }
    });
  }

  @ParameterizedTest
  @Tag("thorough")
  @MethodSource("coordinatorFaults")
  void afterAnOutageOverAWindowsEndTheNextBudgetIsSpent(Fault fault) throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "away " + fault)) {
        awaitFullWindow(offered);
        fault.begin(fleet.coordinator());
        try {
          offered.awaitSilenceOf(EU, US, AP);
        } finally {
          fault.end(fleet.coordinator());
        }
        awaitFullWindow(offered);
        assertNoWindowIsBeyond(LIMIT, offered);
      }
    });
  }

  @ParameterizedTest
  @Tag("thorough")
  @MethodSource("storeFaults")
  void withoutItsStoreARegionLeasesFromTheCoordinator(Fault fault) throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "storeless " + fault)) {
        awaitFullWindow(offered);
        fault.begin(fleet.store(EU));
        try {
          long leasedAhead = offered.currentWindowEndMillis() + WINDOW_MILLIS;
          offered.awaitWindow(
              "that nothing was leased of before",
              window -> window.endMillis() > leasedAhead && window.by(EU) > 0 && isFull(window));
        } finally {
          fault.end(fleet.store(EU));
        }
        awaitFullWindow(offered);
        assertNoWindowIsBeyond(LIMIT, offered);
      }
    });
  }

  @Test
  void aStoreResumedInTheSameWindowStillHasItsUnits() throws Exception {
    onEach(fleet -> {
      try (Caller eu = new Caller(fleet.node(EU), "fleet")) {
        String counter = leaseForTheRegion(eu, "endless", "stopped");
        double failures = eu.metric("throttlekit_federation_escrow_failures_total");
        fleet.store(EU).hang();
        try {
          assertThat(eu.admittedOf(LEASE, "endless", counter))
              .as("units left in a process, and then those of the coordinator")
              .isEqualTo(LEASE);
        } finally {
          fleet.store(EU).goOn();
        }
        long late =
            Math.round(eu.metric("throttlekit_federation_escrow_failures_total") - failures);
        assertThat(late).as("leases that the store answered too late").isPositive();
        long admitted = 1 + LEASE + eu.admittedOf(6 * LIMIT, "endless", counter);
        assertThat(admitted).as("of the limit").isBetween(5 * LIMIT - late * LEASE, 5 * LIMIT);
      }
    });
  }

  @Test
  @Tag("thorough")
  void withoutStoreAndCoordinatorARegionSpendsItsLeasesThenRefuses() throws Exception {
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
        offered.awaitWindow("of all regions again", window -> window.by(EU) > 0 && isFull(window));
        assertNoWindowIsBeyond(LIMIT, offered);
      }
    });
  }

  @Test
  @Tag("thorough")
  void aKilledProcessLosesItsUnits() throws Exception {
    onEach(fleet -> {
      try (Offered offered = offer(fleet, "user", "crashed")) {
        awaitFullWindow(offered);
        long next = offered.currentWindowEndMillis() + WINDOW_MILLIS;
        offered.await("the begin of a window", () -> offered.admitted().window(next).units() > 0);
        fleet.node(EU).kill();
        offered.awaitWindow("of the others", window -> window.by(EU) == 0 && isFull(window));
        assertThat(offered.failures()).as("calls to the killed process").isNotEmpty();
        assertThat(offered.admitted().window(next).isAtLeast(LIMIT - HELD))
            .as("all but the units that it held of %s", offered.admitted().window(next))
            .isTrue();
        assertNoWindowIsBeyond(LIMIT, offered);
      } finally {
        fleet.replaceNode(EU);
      }
    });
  }

  @Test
  void aRegionWithOtherTermsIsRefusedWithTheConflictUntilItAgrees() throws Exception {
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
            .contains("region us has a budget of 200 per " + ENDLESS_MILLIS + " ms")
            .contains("region eu leased from one of 100 per " + ENDLESS_MILLIS + " ms")
            .contains("region us has a budget of 100 per " + ENDLESS_MILLIS / 2 + " ms");
        assertThat(us.metric("throttlekit_federation_mismatches_total")).isGreaterThanOrEqualTo(2);
        assertThat(us.metric("throttlekit_federation_coordinator_answers")).isOne();
        assertThat(eu.metric("throttlekit_federation_mismatches_total")).isZero();

        fleet.rewrite(US, RegionPolicies.ofEachRegion().get(EU));
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

  /**
   * Makes a process lease for counters of one limit, until the surplus of one lease is in the
   * region's store, which a slow store does not take. Returns the counter's value.
   */
  private static String leaseForTheRegion(Caller process, String key, String prefix)
      throws Exception {
    String refilled = "throttlekit_federation_refilled_units_total";
    String failed = "throttlekit_federation_escrow_failures_total";
    process.awaitNoLeases(Duration.ofMillis(2 * WINDOW_MILLIS)); // leases of other tests
    for (int i = 1; i <= MAX_TRIES; i++) {
      String value = prefix + " " + i;
      double refilledBefore = process.metric(refilled);
      double failedBefore = process.metric(failed);
      assertThat(process.ask(key, value)).isEqualTo(Code.OK);
      await()
          .untilAsserted(() ->
              assertThat(process.metric(refilled) + process.metric(failed))
                  .isGreaterThan(refilledBefore + failedBefore));
      if (process.metric(refilled) == refilledBefore + REGIONAL - LEASE
          && process.metric(failed) == failedBefore) {
        return value;
      }
    }
    throw new AssertionError("no store took the surplus of a lease");
  }

  /**
   * Returns whether all units of a window are spent, after one in which each region has spent only
   * one unit; fails if more are spent.
   */
  private static boolean isSpentAfterAnUnspentWindow(RegionalFleet fleet, String counter) {
    try (Offered offered = new Offered(fleet.ports(), NOTHING, WINDOW_MILLIS, "held", counter)) {
      offered.awaitNextWindow();
      offered.once();
      if (offered.refused() > 0 || !offered.failures().isEmpty()) { // a slow first lease
        return false;
      }
      offered.awaitNextWindow();
      offered.goOnWith(SKEWED);
      long next = offered.currentWindowEndMillis();
      offered.awaitNextWindow();
      offered.stop();
      assertThat(offered.admitted().overshoot(LIMIT))
          .as("beyond the limit, of %s", offered.admitted().windows())
          .isZero();
      return isFull(offered.admitted().window(next));
    }
  }

  /** Returns how many units were lost at most: on their way, or by answers that came too late. */
  private static long lostUnits(RegionalFleet fleet) throws Exception {
    double lost = 0;
    for (int region : List.of(EU, US, AP)) {
      try (Caller process = new Caller(fleet.node(region), "fleet")) {
        lost += process.sum("throttlekit_federation_lost_units_total");
        lost += REGIONAL * process.sum("throttlekit_federation_escrow_failures_total");
        lost += REGIONAL * process.sum("throttlekit_federation_coordinator_failures_total");
      }
    }
    return Math.round(lost);
  }

  private static void assertNoWindowIsBeyond(long limit, Offered offered) {
    offered.stop();
    assertThat(offered.admitted().windows()).hasSizeGreaterThan(3);
    assertThat(offered.admitted().overshoot(limit))
        .as("beyond the limit, of %s", offered.admitted().windows())
        .isZero();
  }

  /**
   * Returns the windows in which every region surely refused as many requests as its store leases
   * at a time: a late store may cause a single refusal in a window with units left.
   */
  private static List<Window> spent(Offered offered, long afterMillis) {
    return offered.wholeWindows().stream()
        .filter(each -> each.endMillis() > afterMillis)
        .filter(each -> offered.isExhausted(each, REGIONAL, List.of(EU, US, AP)))
        .toList();
  }

  /** Waits for a window that began after now and was spent, which shows a healthy fleet. */
  private static void awaitFullWindow(Offered offered) {
    offered.awaitWindow("that is spent", RegionsTest::isFull);
  }

  private static boolean isFull(Window window) {
    return window.isAtLeast(FULL);
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
    var _ = Concurrently.all(all);
  }
}
