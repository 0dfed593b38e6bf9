package io.throttlekit.limiter;

import static io.throttlekit.limit.TestLimits.fixed;
import static io.throttlekit.limit.TestLimits.movable;
import static io.throttlekit.limiter.TenantRequests.FLOOD;
import static io.throttlekit.limiter.TenantRequests.VICTIM;
import static io.throttlekit.limiter.TenantRequests.figures;
import static io.throttlekit.limiter.TenantRequests.flood;
import static io.throttlekit.limiter.TenantRequests.listed;
import static io.throttlekit.limiter.TenantRequests.release;
import static io.throttlekit.limiter.TenantRequests.request;
import static io.throttlekit.limiter.TenantRequests.take;
import static io.throttlekit.limiter.TenantRequests.unlisted;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.fairness.FairTerms;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.ProbedVegasLimit;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.limiter.tenants.TenantFigures;
import io.throttlekit.limiter.tenants.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests the parts of tenants. */
class TenantLimiterTest {
  private final TenantRequests requests = new TenantRequests();

  @Test
  void aFloodLeavesActiveTenantsTheirParts() {
    AdaptiveLimiter limiter = requests.limiter(fixed(10), null);
    release(take(limiter, VICTIM));
    assertThat(flood(limiter, FLOOD, 100)).hasSize(5);
    assertThat(requests.refusals).containsOnly(Refusal.ABOVE_PART);
    requests.refusals.clear();
    assertThat(flood(limiter, VICTIM, 100)).hasSize(5);
    assertThat(requests.refusals).containsOnly(Refusal.LIMIT_REACHED);
    assertThat(limiter.figures().inFlight()).isEqualTo(10);
  }

  @Test
  void aTenantBorrowsWhatNoActiveTenantHasAPartOf() {
    AdaptiveLimiter limiter = requests.limiter(fixed(10), null);
    PermitTenant gold = listed("gold", 4);
    release(take(limiter, gold));
    assertThat(flood(limiter, VICTIM, 100)).hasSize(2);
    requests.time.advance(1_000); // gold is not active any more
    assertThat(flood(limiter, VICTIM, 100)).hasSize(8);
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(1, 0, 0));
    assertThat(limiter.tryAcquire(request(gold))).isNull();
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(2, 8, 8));
  }

  @Test
  void inventedTenantsHaveAtMostTheirPartTogetherWhileAListedOneIsActive() {
    AdaptiveLimiter limiter = requests.limiter(fixed(100), Queueing.of(2, 2));
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
  void weightsAndTermsMayChangeAtAnyTime() {
    AdaptiveLimiter limiter = requests.limiter(fixed(100), null);
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
    AdaptiveLimiter limiter = requests.limiter(fixed(2), null);
    assertThat(limiter.canAcquire(request(VICTIM))).isTrue();
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(0, 0, 0));
    assertThat(flood(limiter, FLOOD, 3)).hasSize(2);
    assertThat(limiter.canAcquire(request(VICTIM))).isFalse();
  }

  @Test
  void figuresHaveNoTenantsThatHaveBeenIdleForLong() {
    AdaptiveLimiter limiter = requests.limiter(fixed(10), null);
    release(take(limiter, VICTIM));
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(1, 10, 0));
    requests.time.advance(1_000);
    assertThat(limiter.shareFigures()).isEqualTo(new ShareFigures(0, 0, 0));
    release(take(limiter, VICTIM));
    requests.time.advance(1_000);
    assertThat(figures(limiter, FLOOD).part()).isEqualTo(10);
  }

  @Test
  void lookingForRoomIgnoresTenantsThatHaveBeenIdleForLong() {
    AdaptiveLimiter limiter = requests.limiter(fixed(2), null);
    List<Permit> flooding = flood(limiter, FLOOD, 1);
    release(take(limiter, VICTIM));
    assertThat(limiter.canAcquire(request(FLOOD))).as("the other permit is reserved").isFalse();
    requests.time.advance(1_000);
    assertThat(limiter.canAcquire(request(FLOOD))).isTrue();
    flooding.forEach(Permit::release);
  }

  @Test
  void requestsWithoutATenantShareOne() {
    AdaptiveLimiter limiter = requests.limiter(fixed(2), null);
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
          requests.limiter(fixed(limit), random.nextBoolean() ? null : Queueing.of(1, 2));
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
      AdaptiveLimiter limiter = requests.limiter(movable(4, 40, 20), null);
      List<Permit> held = new ArrayList<>();
      for (int step = 0; step < 300; step++) {
        int event = random.nextInt(12);
        if (event < 4 && !held.isEmpty()) {
          held.remove(random.nextInt(held.size())).release();
        } else if (event == 4) {
          limiter.learn(random.nextInt(8) == 0 ? TestLimits.SHRINK : TestLimits.GROW);
        } else if (event == 5) {
          requests.time.advance(random.nextInt(400));
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
        requests.limiter(
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
      requests.time.advance(10);
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
}
