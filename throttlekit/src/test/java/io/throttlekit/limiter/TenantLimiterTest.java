package io.throttlekit.limiter;

import static io.throttlekit.limit.TestLimits.fixed;
import static io.throttlekit.limit.TestLimits.movable;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.ProbedVegasLimit;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.limiter.tenants.TenantFigures;
import io.throttlekit.limiter.tenants.TenantTerms;
import io.throttlekit.tier.ManualTimer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TenantLimiterTest {
  private static final TenantTerms TERMS =
      new TenantTerms(FairTerms.ALL / 2, 1_000, TenantTerms.ACTIVE_NANOS);
  private static final PermitTenant FLOOD = listed("flood", 1);
  private static final PermitTenant VICTIM = listed("victim", 1);

  private final ManualTime time = new ManualTime(0);
  private final ManualTimer timer = new ManualTimer(time);
  private final List<Refusal> refusals = new ArrayList<>();

  @Test
  void aFloodLeavesActiveTenantsTheirParts() {
    AdaptiveLimiter limiter = limiter(fixed(10), null);
    release(take(limiter, VICTIM));
    assertThat(flood(limiter, FLOOD, 100)).hasSize(5);
    assertThat(refusals).containsOnly(Refusal.ABOVE_PART);
    refusals.clear();
    assertThat(flood(limiter, VICTIM, 100)).hasSize(5);
    assertThat(refusals).containsOnly(Refusal.LIMIT_REACHED);
    assertThat(limiter.figures().inFlight()).isEqualTo(10);
  }

  @Test
  void aTenantBorrowsWhatNoActiveTenantHasAPartOf() {
    AdaptiveLimiter limiter = limiter(fixed(10), null);
    PermitTenant gold = listed("gold", 4);
    release(take(limiter, gold));
    assertThat(flood(limiter, VICTIM, 100)).hasSize(2);
    time.advance(1_000); // gold is not active any more
    assertThat(flood(limiter, VICTIM, 100)).hasSize(8);
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(1, 0, 0));
    assertThat(limiter.tryAcquire(request(gold))).isNull();
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(2, 8, 8));
  }

  @Test
  void aTenantThatComesBackHasTheNextPermitsThatEndUpToItsPart() {
    AdaptiveLimiter limiter = limiter(fixed(4), Queueing.of(3, 3));
    List<Permit> flooding = flood(limiter, FLOOD, 4);
    PermitCallbacks asking = new PermitCallbacks(limiter);
    ask(asking, "flood", FLOOD, 4);
    ask(asking, "victim", VICTIM, 3);
    for (Permit each : flooding) {
      each.release();
    }
    assertThat(asking.notified()).containsExactly("victim 1", "victim 2", "flood 1", "flood 2");
    asking.permit().release(); // of the victim, which is below its part again
    assertThat(asking.notified()).containsExactly("victim 3");
  }

  @Test
  void aRequestWithinItsPartOvertakesThoseThatWaitAboveTheirs() {
    AdaptiveLimiter limiter = limiter(fixed(4), Queueing.of(3, 3));
    release(take(limiter, VICTIM));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    ask(asking, "flood", FLOOD, 5);
    assertThat(asking.notified()).containsExactly("flood 1", "flood 2");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(4, 2, 3, 0));
    assertThat(flood(limiter, VICTIM, 3)).hasSize(2);
    assertThat(limiter.canAcquire(request(FLOOD))).as("may wait").isTrue();
  }

  @Test
  void reservedPermitsGoToWaitingRequestsOnceTheirTenantIsNotActive() {
    AdaptiveLimiter limiter = limiter(fixed(4), Queueing.of(3, 3));
    release(take(limiter, VICTIM));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    ask(asking, "flood", FLOOD, 4);
    asking.notified();
    time.advance(999);
    timer.run();
    assertThat(asking.notified()).isEmpty();
    time.advance(1);
    timer.run();
    assertThat(asking.notified()).containsExactly("flood 3", "flood 4");
  }

  @Test
  void aRequestWithinItsPartMayWaitWhereTheQueueIsFullOfOthers() {
    AdaptiveLimiter limiter = limiter(fixed(4), Queueing.of(1, 1));
    flood(limiter, FLOOD, 4);
    PermitCallbacks asking = new PermitCallbacks(limiter);
    ask(asking, "flood", FLOOD, 5);
    assertThat(asking.notified()).containsExactly("flood 5 QUEUE_FULL");
    assertThat(limiter.canAcquire(request(VICTIM))).isTrue();
    ask(asking, "victim", VICTIM, 3);
    assertThat(asking.notified()).containsExactly("victim 3 QUEUE_FULL");
    assertThat(limiter.canAcquire(request(VICTIM))).isFalse();
    assertThat(limiter.figures().queued()).isEqualTo(6);
  }

  @Test
  void theQueueIsBoundedForRequestsWithinTheirPartsToo() {
    AdaptiveLimiter limiter = limiter(fixed(40), Queueing.of(1, 1));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    int most = 0;
    flood(limiter, FLOOD, 40);
    for (int i = 0; i < 40; i++) { // each one's part is smaller, and those before wait already
      ask(asking, "joins", listed("tenant " + i, 1), 40);
      most = Math.max(most, limiter.figures().queued());
    }
    assertThat(most).isEqualTo(80);
  }

  @Test
  void levelsDecideOnlyAmongRequestsAboveTheirParts() {
    Prioritizer prioritizer = new Prioritizer();
    AdaptiveLimiter limiter =
        AdaptiveLimiter.of(fixed(4))
            .time(time, timer)
            .queueing(Queueing.of(1, 3))
            .prioritizer(prioritizer)
            .tenants(TERMS)
            .build();
    flood(limiter, FLOOD, 4);
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (int i = 0; i < 8; i++) {
      asking.ask("flood", request(FLOOD, 100 + i));
    }
    prioritizer.calibrate();
    assertThat(prioritizer.threshold()).isGreaterThan(0);
    asking.ask("victim", request(VICTIM, 0));
    asking.ask("flood", request(FLOOD, 0));
    assertThat(asking.notified()).containsExactly("flood PRIORITY_TOO_LOW");
  }

  @Test
  void aPrioritizerThatIsSharedRefusesNoRequestWithinItsPart() {
    Prioritizer prioritizer = new Prioritizer();
    LimiterBuilder builder =
        AdaptiveLimiter.of(fixed(4)).time(time, timer).prioritizer(prioritizer).tenants(TERMS);
    AdaptiveLimiter full = builder.build();
    AdaptiveLimiter limiter = builder.build();
    PermitCallbacks asking = new PermitCallbacks(full);
    for (int i = 0; i < 14; i++) {
      asking.ask("flood", request(FLOOD, 100));
    }
    prioritizer.calibrate();
    assertThat(prioritizer.threshold()).isEqualTo(100);
    release(take(limiter, VICTIM));
    assertThat(flood(limiter, FLOOD, 9)).as("the level is too low").hasSize(2);
    assertThat(limiter.canAcquire(request(FLOOD, 100))).isTrue();
  }

  @Test
  void aFallingLimitRevokesNothingAndServesTenantsBelowTheirPartsFirst() {
    AdaptiveLimiter limiter = limiter(movable(1, 16, 16), Queueing.of(3, 3));
    List<Permit> flooding = flood(limiter, FLOOD, 12);
    List<Permit> held = flood(limiter, VICTIM, 4);
    limiter.learn(TestLimits.SHRINK);
    assertThat(limiter.figures().limit()).isEqualTo(8);
    assertThat(limiter.figures().inFlight()).isEqualTo(16);
    held.removeLast().release();
    PermitCallbacks asking = new PermitCallbacks(limiter);
    ask(asking, "flood", FLOOD, 2);
    ask(asking, "victim", VICTIM, 2);
    for (int i = 0; i < 7; i++) {
      flooding.removeLast().release();
    }
    assertThat(limiter.figures().inFlight()).isEqualTo(8);
    assertThat(asking.notified()).isEmpty();
    flooding.removeLast().release();
    assertThat(asking.notified()).containsExactly("victim 1");
    held.removeLast().release();
    assertThat(asking.notified()).containsExactly("victim 2");
    flooding.removeLast().release(); // its part is 4, and 3 are left
    assertThat(asking.notified()).containsExactly("flood 1");
  }

  @Test
  void inventedTenantsHaveAtMostTheirPartTogetherWhileAListedOneIsActive() {
    AdaptiveLimiter limiter = limiter(fixed(100), Queueing.of(2, 2));
    release(take(limiter, VICTIM));
    List<Permit> invented = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Permit permit = limiter.tryAcquire(request(unlisted("invented " + i)));
      if (permit != null) {
        invented.add(permit);
      }
    }
    assertThat(invented).hasSize(50);
    assertThat(Objects.requireNonNull(limiter.shareFigures()).tenants())
        .as("the idle ones are bounded")
        .isLessThanOrEqualTo(1_000 + 50 + 1);
    assertThat(flood(limiter, VICTIM, 100)).hasSize(50);
  }

  @Test
  void aListedTenantThatJoinsInventedOnesHasEachPermitThatEndsUpToItsPart() {
    AdaptiveLimiter limiter = limiter(fixed(100), Queueing.of(2, 2));
    List<Permit> invented = new ArrayList<>();
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (int i = 0; i < 10_000; i++) {
      Permit permit = limiter.tryAcquire(request(unlisted("invented " + i)));
      if (permit != null) {
        invented.add(permit);
      } else {
        asking.ask("invented", request(unlisted("invented " + i)));
      }
    }
    assertThat(invented).hasSize(100);
    ask(asking, "victim", VICTIM, 50);
    asking.notified();
    invented.subList(0, 50).forEach(Permit::release);
    assertThat(asking.notified()).hasSize(50).allMatch(each -> each.startsWith("victim"));
  }

  @Test
  void aNewRequestDoesNotOvertakeOneThatMayHaveThePermitAfterAnIncrease() {
    AdaptiveLimiter[] limiter = new AdaptiveLimiter[1];
    boolean[] overtaken = {false};
    LimiterListener atTheRise =
        new LimiterListener() {
          @Override
          public void limitChanged(int before, int now) {
            overtaken[0] = limiter[0].tryAcquire(request(FLOOD)) != null;
          }
        };
    limiter[0] =
        AdaptiveLimiter.of(movable(1, 3, 2))
            .queueing(Queueing.of(9, 9))
            .listener(atTheRise)
            .tenants(TERMS)
            .build();
    PermitCallbacks asking = new PermitCallbacks(limiter[0]);
    ask(asking, "other", listed("other", 1), 2);
    ask(asking, "victim", VICTIM, 1);
    limiter[0].learn(TestLimits.GROW);
    assertThat(overtaken[0]).isFalse();
    assertThat(asking.notified()).containsExactly("other 1", "other 2", "victim 1");
  }

  @Test
  void weightsAndTermsMayChangeAtAnyTime() {
    AdaptiveLimiter limiter = limiter(fixed(100), null);
    release(take(limiter, VICTIM));
    release(take(limiter, unlisted("other")));
    assertThat(figures(limiter, VICTIM).part()).isEqualTo(50);
    limiter.change(new TenantTerms(FairTerms.ALL / 10, 1_000, TenantTerms.ACTIVE_NANOS));
    assertThat(figures(limiter, VICTIM).part()).isEqualTo(90);
    assertThat(figures(limiter, unlisted("other")).part()).isEqualTo(10);
    release(take(limiter, listed("other", 3)));
    assertThat(figures(limiter, VICTIM).part()).isEqualTo(25);
  }

  @Test
  void lookingForRoomActivatesNoTenant() {
    AdaptiveLimiter limiter = limiter(fixed(2), null);
    assertThat(limiter.canAcquire(request(VICTIM))).isTrue();
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(0, 0, 0));
    assertThat(flood(limiter, FLOOD, 3)).hasSize(2);
    assertThat(limiter.canAcquire(request(VICTIM))).isFalse();
  }

  @Test
  void figuresHaveNoTenantsThatHaveBeenIdleForLong() {
    AdaptiveLimiter limiter = limiter(fixed(10), null);
    release(take(limiter, VICTIM));
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(1, 10, 0));
    time.advance(1_000);
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(0, 0, 0));
    release(take(limiter, VICTIM));
    time.advance(1_000);
    assertThat(figures(limiter, FLOOD).part()).isEqualTo(10);
  }

  @Test
  void lookingForRoomIgnoresTenantsThatHaveBeenIdleForLong() {
    AdaptiveLimiter limiter = limiter(fixed(2), null);
    List<Permit> flooding = flood(limiter, FLOOD, 1);
    release(take(limiter, VICTIM));
    assertThat(limiter.canAcquire(request(FLOOD))).as("the other permit is reserved").isFalse();
    time.advance(1_000);
    assertThat(limiter.canAcquire(request(FLOOD))).isTrue();
    flooding.forEach(Permit::release);
  }

  @Test
  void requestsWithoutATenantShareOne() {
    AdaptiveLimiter limiter = limiter(fixed(2), null);
    release(take(limiter, VICTIM));
    assertThat(limiter.tryAcquire()).isNotNull();
    assertThat(limiter.tryAcquire()).isNull();
    assertThat(flood(limiter, VICTIM, 3)).hasSize(1);
  }

  /**
   * While the active tenants, their weights and the limit stay as they are, a request within its
   * tenant's part is always admitted, and never are more in flight than the limit.
   */
  @Test
  void aRequestWithinItsPartIsAdmittedInRandomHistoriesOfSeed26() {
    SplittableRandom random = new SplittableRandom(26);
    int admitted = 0;
    int heldBack = 0;
    for (int history = 0; history < 300; history++) {
      int limit = random.nextInt(4, 40);
      AdaptiveLimiter limiter =
          limiter(fixed(limit), random.nextBoolean() ? null : Queueing.of(1, 2));
      List<PermitTenant> tenants = tenants(random, limit);
      for (PermitTenant each : tenants) { // active from here on
        Permit permit = limiter.tryAcquire(request(each));
        if (permit != null) {
          permit.release();
        }
      }
      List<Permit> held = new ArrayList<>();
      PermitCallbacks asking = new PermitCallbacks(limiter);
      for (int step = 0; step < 200; step++) {
        if (random.nextInt(3) == 0 && !held.isEmpty()) {
          held.remove(random.nextInt(held.size())).release();
          asking.notified();
        } else {
          PermitTenant tenant = tenants.get(random.nextInt(tenants.size()));
          TenantFigures figures = figures(limiter, tenant);
          asking.ask("asks", request(tenant));
          boolean within = figures.inFlight() < figures.part();
          boolean isIn = asking.notified().contains("asks");
          assertThat(isIn || !within).as("seed 26, history %d: %s", history, figures).isTrue();
          admitted += within ? 1 : 0;
          heldBack += isIn ? 0 : 1;
        }
        held.addAll(asking.permits());
        assertThat(limiter.figures().inFlight()).isEqualTo(held.size());
        assertThat(held.size()).isLessThanOrEqualTo(limit);
      }
    }
    assertThat(admitted).isGreaterThan(5_000);
    assertThat(heldBack).isGreaterThan(5_000);
  }

  /**
   * While tenants come and go and the limit moves, a request within its tenant's part is held back
   * only while another tenant has more than its own.
   */
  @Test
  void aRequestWithinItsPartWaitsOnlyForTenantsAboveTheirsInRandomHistoriesOfSeed27() {
    SplittableRandom random = new SplittableRandom(27);
    int waited = 0;
    for (int history = 0; history < 300; history++) {
      AdaptiveLimiter limiter = limiter(movable(4, 40, 20), null);
      List<Permit> held = new ArrayList<>();
      for (int step = 0; step < 300; step++) {
        int event = random.nextInt(12);
        if (event < 4 && !held.isEmpty()) {
          held.remove(random.nextInt(held.size())).release();
        } else if (event == 4) {
          limiter.learn(random.nextInt(8) == 0 ? TestLimits.SHRINK : TestLimits.GROW);
        } else if (event == 5) {
          time.advance(random.nextInt(400));
        } else {
          int number = random.nextInt(12);
          PermitTenant tenant =
              number < 9 ? listed("t" + number, 1 + number % 3) : unlisted("t" + number);
          int before = limiter.figures().inFlight();
          Permit permit = limiter.tryAcquire(request(tenant));
          TenantFigures figures = figures(limiter, tenant);
          if (permit != null) {
            assertThat(before).isLessThan(limiter.figures().limit());
            held.add(permit);
          } else if (figures.inFlight() < figures.part()) {
            ShareFigures all = Objects.requireNonNull(limiter.shareFigures());
            assertThat(all.borrowed()).as("seed 27, history %d", history).isPositive();
            waited++;
          }
        }
      }
    }
    assertThat(waited).isGreaterThan(500);
  }

  /** One of ten tenants sends as many as it can; the others are active, and hardly send any. */
  @Test
  void aLimitThatTenantsMayNotUseStaysAsItIs() {
    AdaptiveLimiter limiter =
        limiter(
            new ProbedVegasLimit(
                new LimitRange(1, 1_000, 100),
                ProbedVegasLimit.Settings.defaults(),
                new SplittableRandom(26)),
            null);
    int most = 0;
    int least = Integer.MAX_VALUE;
    for (int step = 0; step < 6_000; step++) {
      if (step % 50 == 0) {
        for (int i = 0; i < 9; i++) {
          Permit light = limiter.tryAcquire(request(listed("light " + i, 1)));
          Objects.requireNonNull(light).release();
        }
      }
      List<Permit> flooding = flood(limiter, FLOOD, 30);
      time.advance(10);
      flooding.forEach(Permit::record);
      most = Math.max(most, limiter.figures().limit());
      least = Math.min(least, limiter.figures().limit());
    }
    assertThat(least).isEqualTo(100);
    assertThat(most).isEqualTo(100);
  }

  private static List<PermitTenant> tenants(SplittableRandom random, int limit) {
    List<PermitTenant> tenants = new ArrayList<>();
    int count = random.nextInt(1, 2 + limit / 2);
    for (int i = 0; i < count; i++) {
      tenants.add(random.nextInt(3) == 0 ? unlisted("u" + i) : listed("t" + i, 1 + i % 4));
    }
    return tenants;
  }

  private AdaptiveLimiter limiter(ConcurrencyLimit algorithm, @Nullable Queueing queueing) {
    LimiterBuilder builder =
        AdaptiveLimiter.of(algorithm)
            .time(time, timer)
            .tenants(TERMS)
            .random(() -> 0.5)
            .listener(
                new LimiterListener() {
                  @Override
                  public void refused(Refusal why) {
                    refusals.add(why);
                  }
                });
    return (queueing == null ? builder : builder.queueing(queueing)).build();
  }

  private static void ask(PermitCallbacks asking, String name, PermitTenant tenant, int times) {
    for (int i = 1; i <= times; i++) {
      asking.ask(name + " " + i, request(tenant));
    }
  }

  /** Returns the permits that a tenant gets of so many requests. */
  private static List<Permit> flood(AdaptiveLimiter limiter, PermitTenant tenant, int requests) {
    List<Permit> permits = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      Permit permit = limiter.tryAcquire(request(tenant));
      if (permit != null) {
        permits.add(permit);
      }
    }
    return permits;
  }

  private static Permit take(AdaptiveLimiter limiter, PermitTenant tenant) {
    return PermitCallbacks.taken(limiter.tryAcquire(request(tenant)));
  }

  private static void release(Permit permit) {
    permit.release();
  }

  private static TenantFigures figures(AdaptiveLimiter limiter, PermitTenant tenant) {
    return Objects.requireNonNull(limiter.figures(tenant));
  }

  private static PermitRequest request(PermitTenant tenant) {
    return request(tenant, 0);
  }

  private static PermitRequest request(PermitTenant tenant, int level) {
    return new PermitRequest(level, null, Queueing.NO_TIMEOUT, tenant);
  }

  private static PermitTenant listed(String name, long weight) {
    return new PermitTenant(name, TenantWeight.listed(weight));
  }

  private static PermitTenant unlisted(String name) {
    return new PermitTenant(name, TenantWeight.unlisted(1));
  }
}
