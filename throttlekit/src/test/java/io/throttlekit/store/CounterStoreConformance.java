package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.enforced;
import static io.throttlekit.store.Charges.key;
import static io.throttlekit.store.Charges.quota;
import static io.throttlekit.store.Charges.shadow;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.TokenBucket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of every {@link CounterStore}, with any storage of its counters. */
public abstract class CounterStoreConformance {
  private static final long START = 1_700_000_000_000L;
  private static final long MINUTE = 60_000;
  private static final long WINDOW_END = START - START % MINUTE + MINUTE;
  private static final int SEEDS = Boolean.getBoolean("throttlekit.thorough") ? 25 : 4;
  private static final int STEPS = 120;

  private final ManualTime clock = new ManualTime(START);
  private final FixedWindow five = new FixedWindow(5, MINUTE);
  private CounterStore store = new InMemoryStore(clock, 1);

  /** Opens a store without counters, with the wall clock of {@code clock}. */
  protected abstract CounterStore open(ManualTime clock);

  static List<RateAlgorithm<?>> algorithms() {
    return Charges.hourly(5);
  }

  @BeforeEach
  void openStore() {
    store = open(clock);
  }

  @AfterEach
  void closeStore() {
    store.close();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void admitsTheLimitAndNoMore(RateAlgorithm<?> algorithm) {
    for (int i = 1; i <= 5; i++) {
      Outcome outcome = acquire(enforced(charge(algorithm, "a", 1)));
      assertThat(outcome.admitted()).isTrue();
      assertThat(outcome.decisions().getFirst().remaining()).isEqualTo(5 - i);
    }
    Outcome sixth = acquire(enforced(charge(algorithm, "a", 1)));
    assertThat(sixth.admitted()).isFalse();
    assertThat(sixth.decisions().getFirst().retryAfterMillis()).isPositive();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void countsAllClaimsOrNone(RateAlgorithm<?> algorithm) {
    assertThat(acquire(enforced(charge(algorithm, "a", 3)), enforced(charge(algorithm, "b", 6))))
        .satisfies(outcome -> {
          assertThat(outcome.admitted()).isFalse();
          assertThat(outcome.decisions().get(0).admitted()).isTrue();
          assertThat(outcome.decisions().get(0).remaining()).isEqualTo(5);
          assertThat(outcome.decisions().get(1).neverFits()).isTrue();
        });
    assertThat(left(algorithm, "a")).isEqualTo(5);
    assertThat(acquire(enforced(charge(algorithm, "a", 3)), enforced(charge(algorithm, "b", 5))))
        .satisfies(outcome -> assertThat(outcome.admitted()).isTrue());
    assertThat(left(algorithm, "a")).isEqualTo(2);
    assertThat(left(algorithm, "b")).isZero();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void countsLongKeysThatBeginAlikeApart(RateAlgorithm<?> algorithm) {
    String value = "a{b".repeat(20_000);
    for (int i = 1; i <= 3; i++) {
      acquire(enforced(charge(algorithm, value + i, i), charge(algorithm, "short" + i, i)));
    }
    for (int i = 1; i <= 3; i++) {
      assertThat(left(algorithm, value + i)).isEqualTo(5 - i);
      assertThat(left(algorithm, "short" + i)).isEqualTo(5 - i);
    }
    assertThat(left(algorithm, value)).isEqualTo(5);
  }

  @Test
  void countsAllChargesOfAClaimOrNone() {
    FixedWindow two = new FixedWindow(2, 1000);
    Claim both = enforced(charge(two, "a", 1), charge(five, "a", 1));
    acquire(both);
    acquire(both);
    assertThat(acquire(both).decisions())
        .containsExactly(
            Decision.refuse(2, 0, 1000, 1000), Decision.admit(5, 3, WINDOW_END - START));
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void claimsOnOneCounterSeeEachOther(RateAlgorithm<?> algorithm) {
    assertThat(
            acquire(enforced(charge(algorithm, "a", 3)), enforced(charge(algorithm, "a", 3)))
                .admitted())
        .isFalse();
    assertThat(left(algorithm, "a")).isEqualTo(5);
    assertThat(
            acquire(enforced(charge(algorithm, "a", 3)), enforced(charge(algorithm, "a", 2)))
                .decisions())
        .extracting(Decision::remaining)
        .containsExactly(2L, 0L);
  }

  @Test
  void chargesOfOneCounterWaitUntilTheyFitTogether() {
    Gcra spaced = new Gcra(5, MINUTE);
    acquire(enforced(charge(spaced, "a", 4)));
    Outcome outcome = acquire(enforced(charge(spaced, "a", 1)), enforced(charge(spaced, "a", 2)));
    assertThat(outcome.decisions().getLast().retryAfterMillis()).isEqualTo(2 * MINUTE / 5);
  }

  @Test
  void aShadowClaimRefusesNothingAndCountsWithTheRequest() {
    assertThat(acquire(shadow(charge(five, "b", 6))).admitted()).isTrue();
    Outcome outcome = acquire(enforced(charge(five, "a", 1)), shadow(charge(five, "b", 6)));
    assertThat(outcome.admitted()).isTrue();
    assertThat(outcome.decisions().get(1).admitted()).isFalse();
    acquire(enforced(charge(five, "a", 6)), shadow(charge(five, "b", 1)));
    assertThat(left(five, "b")).isEqualTo(5);
    acquire(enforced(charge(five, "a", 1)), shadow(charge(five, "b", 1)));
    assertThat(left(five, "b")).isEqualTo(4);
    acquire(enforced(charge(five, "a", 1)), shadow(charge(five, "b", 1), charge(five, "c", 6)));
    assertThat(left(five, "b")).isEqualTo(4);
    assertThat(left(five, "a")).isEqualTo(2);
  }

  @Test
  void quotasRefuseOnlyTogether() {
    Claim fits = quota(charge(five, "a", 1));
    Claim never = quota(charge(five, "b", 6));
    assertThat(acquire(fits, never).admitted()).isTrue();
    assertThat(acquire(never, never).admitted()).isFalse();
    assertThat(acquire(enforced(charge(five, "a", 1)), never).admitted()).isFalse();
    assertThat(left(five, "a")).isEqualTo(4);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void overdraftsAreChargedCompletely(RateAlgorithm<?> algorithm) {
    for (Overrun overrun : List.of(Overrun.OVERDRAFT, Overrun.COUNT)) {
      Decision debt =
          acquire(enforced(charge(algorithm, overrun.name(), 7, overrun))).decisions().getFirst();
      assertThat(debt.admitted()).isFalse();
      assertThat(debt.remaining()).isEqualTo(-2);
      acquire(enforced(charge(algorithm, overrun.name(), -3)));
      assertThat(left(algorithm, overrun.name())).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OVERDRAFT", "COUNT"})
  void overdraftsAndRefundsCountInARefusedRequest(Overrun overrun) {
    acquire(enforced(charge(five, "r", 4)));
    Outcome outcome =
        acquire(
            enforced(charge(five, "a", 2, overrun)),
            enforced(charge(five, "b", 7, overrun)),
            enforced(charge(five, "c", 1)),
            enforced(charge(five, "r", -3)));
    assertThat(outcome.admitted()).isFalse();
    long end = WINDOW_END - START;
    assertThat(outcome.decisions())
        .containsExactly(
            Decision.admit(5, 3, end),
            Decision.refuse(5, -2, end, Decision.NEVER),
            Decision.admit(5, 5, end),
            Decision.admit(5, 4, end));
    assertThat(left(five, "a")).isEqualTo(3);
    assertThat(left(five, "c")).isEqualTo(5);
    assertThat(left(five, "r")).isEqualTo(4);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void peeksByTheOverrunOfItsCharge(RateAlgorithm<?> algorithm) {
    assertThat(join(store.peek(key(algorithm, "a"), algorithm)).decisions().getFirst())
        .satisfies(unused -> assertThat(unused.remaining()).isEqualTo(5));
    acquire(enforced(charge(algorithm, "a", 5)));
    assertThat(acquire(enforced(charge(algorithm, "a", 0, Overrun.REFUSE))).admitted()).isFalse();
    assertThat(acquire(enforced(charge(algorithm, "a", 0, Overrun.OVERDRAFT))).admitted())
        .isFalse();
    assertThat(acquire(enforced(charge(algorithm, "a", 0, Overrun.COUNT))).admitted()).isTrue();
    assertThat(left(algorithm, "a")).isZero();
  }

  @Test
  void aChangedLimitKeepsTheCount() {
    acquire(enforced(charge(five, "a", 5)));
    FixedWindow raised = new FixedWindow(7, MINUTE);
    assertThat(acquire(enforced(charge(raised, "a", 1))).decisions().getFirst().remaining())
        .isEqualTo(1);
  }

  static List<List<RateAlgorithm<?>>> loweredRates() {
    return List.of(
        List.of(new Gcra(10, MINUTE, 10), new Gcra(1, MINUTE, 10)),
        List.of(new TokenBucket(10, MINUTE, 10), new TokenBucket(1, MINUTE, 10)));
  }

  @ParameterizedTest
  @MethodSource("loweredRates")
  void aLoweredRateKeepsWhatTheFormerRateRepaid(List<RateAlgorithm<?>> rates) {
    RateAlgorithm<?> former = rates.getFirst();
    RateAlgorithm<?> lowered = rates.getLast();
    acquire(enforced(charge(former, "half", 10)));
    acquire(enforced(charge(former, "all", 10)));
    clock.setWall(START + MINUTE / 2);
    assertThat(left(lowered, "half")).as("at the former rate until now").isEqualTo(5);
    assertThat(acquire(enforced(charge(lowered, "half", 1))).decisions().getFirst().remaining())
        .isEqualTo(4);
    clock.setWall(START + MINUTE);
    assertThat(left(lowered, "half")).as("at the lowered rate since").isEqualTo(4);
    assertThat(left(lowered, "all")).isEqualTo(10);
  }

  static List<List<RateAlgorithm<?>>> raisedRates() {
    return List.of(
        List.of(new Gcra(1, MINUTE, 1), new Gcra(10, MINUTE, 1)),
        List.of(new TokenBucket(1, MINUTE, 1), new TokenBucket(10, MINUTE, 1)));
  }

  @ParameterizedTest
  @MethodSource("raisedRates")
  void aRaisedRateAppliesAtOnce(List<RateAlgorithm<?>> rates) {
    acquire(enforced(charge(rates.getFirst(), "a", 1)));
    RateAlgorithm<?> raised = rates.getLast();
    Decision refused = acquire(enforced(charge(raised, "a", 1))).decisions().getFirst();
    assertThat(refused.retryAfterMillis()).isEqualTo(MINUTE / 10);
    clock.setWall(START + MINUTE / 10);
    assertThat(acquire(enforced(charge(raised, "a", 1))).admitted()).isTrue();
  }

  @Test
  void windowsFollowTheStoresClock() {
    acquire(enforced(charge(five, "a", 5)));
    clock.setWall(WINDOW_END - 1);
    assertThat(acquire(enforced(charge(five, "a", 1))).decisions())
        .containsExactly(Decision.refuse(5, 0, 1, 1));
    clock.setWall(WINDOW_END);
    assertThat(acquire(enforced(charge(five, "a", 1))).decisions())
        .containsExactly(Decision.admit(5, 4, MINUTE));
  }

  @Test
  void grantsTheRestThenNothing() {
    acquire(enforced(charge(five, "a", 1)));
    assertThat(lease("a", 3)).isEqualTo(new LeaseGrant(3, WINDOW_END, START, 1));
    assertThat(lease("a", 3)).isEqualTo(new LeaseGrant(1, WINDOW_END, START, 0));
    assertThat(lease("a", 3)).isEqualTo(new LeaseGrant(0, WINDOW_END, START, 0));
    assertThat(acquire(enforced(charge(five, "a", 1))).admitted()).isFalse();
    clock.setWall(WINDOW_END + 7);
    assertThat(lease("a", 9)).isEqualTo(new LeaseGrant(5, WINDOW_END + MINUTE, WINDOW_END + 7, 0));
  }

  @Test
  void aDuplicateLeaseGetsTheSameGrantOnce() {
    Assumptions.assumeTrue(supportsCallIds());
    assertThat(lease(3, 16, 1)).isEqualTo(new LeaseGrant(3, WINDOW_END, START, 2));
    assertThat(lease(3, 16, 1)).isEqualTo(new LeaseGrant(3, WINDOW_END, START, 2));
    acquire(enforced(charge(five, "a", 1)));
    assertThat(lease(3, 24, 1))
        .as("another sender")
        .isEqualTo(new LeaseGrant(1, WINDOW_END, START, 0));
    assertThat(lease(3, 16, 1)).as("the same").isEqualTo(new LeaseGrant(3, WINDOW_END, START, 0));
    assertThat(lease(3, 16, 2))
        .as("another call")
        .isEqualTo(new LeaseGrant(0, WINDOW_END, START, 0));
    assertThat(store.lease(request(16, 1, 3)).toCompletableFuture())
        .as("a superseded call")
        .failsWithin(Duration.ofMinutes(4));
    clock.setWall(WINDOW_END + 7);
    assertThat(lease(3, 16, 2))
        .as("in another window")
        .isEqualTo(new LeaseGrant(3, WINDOW_END + MINUTE, WINDOW_END + 7, 2));
  }

  @Test
  void aDuplicateReturnCountsOnce() {
    Assumptions.assumeTrue(supportsCallIds());
    LeaseGrant grant = lease("a", 5);
    join(store.returnUnits(request(16, 1, 5), grant.windowEndMillis(), 2));
    join(store.returnUnits(request(16, 1, 5), grant.windowEndMillis(), 2));
    assertThat(left(five, "a")).isEqualTo(2);
    join(store.returnUnits(request(16, 2, 5), grant.windowEndMillis(), 2));
    assertThat(left(five, "a")).isEqualTo(4);
  }

  /** Returns whether it recognises repeated calls. */
  protected boolean supportsCallIds() {
    return true;
  }

  private LeaseGrant lease(long units, long sender, long number) {
    return join(store.lease(request(sender, number, units)));
  }

  private LeaseRequest request(long sender, long number, long units) {
    CallId id = new CallId(sender, number);
    return new LeaseRequest(key(five, "a"), five, units, DataLoss.REFILL, id);
  }

  @Test
  void grantsNothingOfALimitOfZeroOrBeyondADebt() {
    FixedWindow none = new FixedWindow(0, MINUTE);
    assertThat(join(store.lease(request("z", none, 2))).units()).isZero();
    acquire(enforced(charge(five, "a", 9, Overrun.OVERDRAFT)));
    assertThat(lease("a", 1).units()).isZero();
  }

  @Test
  void acceptsReturnedUnitsInTheirWindowOnly() {
    LeaseGrant grant = lease("a", 5);
    returnUnits("a", grant.windowEndMillis(), 2);
    assertThat(left(five, "a")).isEqualTo(2);
    clock.setWall(WINDOW_END);
    assertThat(lease("a", 4).units()).isEqualTo(4);
    returnUnits("a", grant.windowEndMillis(), 3);
    assertThat(left(five, "a")).isEqualTo(1);
    returnUnits("a", WINDOW_END + 2 * MINUTE, 3);
    assertThat(left(five, "a")).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {6, 1L << 50})
  void acceptsNoMoreReturnedUnitsThanCounted(long units) {
    returnUnits("never seen", WINDOW_END, units);
    assertThat(left(five, "never seen")).isEqualTo(5);
    acquire(enforced(charge(five, "a", 3)));
    returnUnits("a", WINDOW_END, units);
    assertThat(left(five, "a")).isEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void aResetCounterStartsAtZero(RateAlgorithm<?> algorithm) {
    acquire(enforced(charge(algorithm, "a", 5)), enforced(charge(algorithm, "b", 5)));
    join(store.reset(key(algorithm, "a"), algorithm));
    join(store.reset(key(algorithm, "never seen"), algorithm));
    assertThat(left(algorithm, "a")).isEqualTo(5);
    assertThat(left(algorithm, "b")).isZero();
  }

  @Test
  void keepsCountersOfAnyEntriesApart() {
    List<String> users =
        List.of(
            "a", "a|1:b", "{a}", "{}", "ä", "日本", "\uD83D\uDE00", "\uD83D", "\uDE00", "a\0", "");
    for (String user : users) {
      assertThat(acquire(enforced(charge(five, user, 5))).admitted()).as(user).isTrue();
    }
    assertThat(users).allSatisfy(user -> assertThat(left(five, user)).isZero());
  }

  @Test
  void aThousandClaimsAreDecidedAsOne() {
    Claim[] claims =
        IntStream.range(0, 1000)
            .mapToObj(i -> enforced(charge(five, "user" + i, 3)))
            .toArray(Claim[]::new);
    assertThat(acquire(claims).admitted()).isTrue();
    Outcome second = acquire(claims);
    assertThat(second.admitted()).isFalse();
    assertThat(second.decisions()).hasSize(1000).allMatch(d -> d.remaining() == 2);
  }

  @Test
  void noClaimsAreAdmitted() {
    assertThat(acquire().admitted()).isTrue();
  }

  @Test
  void clockStepsOfAMillionMillisDoNotAdmitTwice() {
    acquire(enforced(charge(five, "a", 5)));
    clock.setWall(START - 1_000_000);
    assertThat(acquire(enforced(charge(five, "a", 1))).admitted()).isFalse();
    clock.setWall(START);
    assertThat(acquire(enforced(charge(five, "a", 1))).admitted()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("io.throttlekit.store.RandomRequests#algorithms")
  void decidesLikeTheStoreInMemoryStepByStep(List<RateAlgorithm<?>> algorithms) {
    for (int seed = 0; seed < SEEDS; seed++) {
      InMemoryStore reference = new InMemoryStore(clock, 10_000_000);
      RandomRequests requests = new RandomRequests(algorithms, seed, clock);
      for (int step = 0; step < STEPS; step++) {
        RandomRequests.Step next = requests.next();
        assertThat(next.askOf(store))
            .as("algorithms %s seed %s step %s: %s", algorithms, seed, step, next)
            .isEqualTo(next.askOf(reference));
      }
    }
  }

  private Outcome acquire(Claim... claims) {
    return join(store.acquire(List.of(claims)));
  }

  private long left(RateAlgorithm<?> algorithm, String user) {
    return join(store.peek(key(algorithm, user), algorithm)).decisions().getFirst().remaining();
  }

  private LeaseGrant lease(String user, long units) {
    return join(store.lease(request(user, five, units)));
  }

  private void returnUnits(String user, long windowEndMillis, long units) {
    join(store.returnUnits(request(user, five, 1), windowEndMillis, units));
  }

  private static LeaseRequest request(String user, FixedWindow window, long units) {
    return new LeaseRequest(key(window, user), window, units, DataLoss.REFILL);
  }

  private static <T> T join(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }
}
