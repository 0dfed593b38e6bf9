package io.throttlekit.limiter;

import static io.throttlekit.limit.TestLimits.fixed;
import static io.throttlekit.limit.TestLimits.movable;
import static io.throttlekit.limiter.TenantRequests.FLOOD;
import static io.throttlekit.limiter.TenantRequests.TERMS;
import static io.throttlekit.limiter.TenantRequests.VICTIM;
import static io.throttlekit.limiter.TenantRequests.ask;
import static io.throttlekit.limiter.TenantRequests.flood;
import static io.throttlekit.limiter.TenantRequests.listed;
import static io.throttlekit.limiter.TenantRequests.release;
import static io.throttlekit.limiter.TenantRequests.request;
import static io.throttlekit.limiter.TenantRequests.take;
import static io.throttlekit.limiter.TenantRequests.unlisted;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.TestLimits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which requests of tenants wait, and which of them are admitted first. */
class TenantQueueTest {
  private final TenantRequests requests = new TenantRequests();

  @Test
  void aTenantThatComesBackHasTheNextPermitsThatEndUpToItsPart() {
    AdaptiveLimiter limiter = requests.limiter(fixed(4), Queueing.of(3, 3));
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
    AdaptiveLimiter limiter = requests.limiter(fixed(4), Queueing.of(3, 3));
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
    AdaptiveLimiter limiter = requests.limiter(fixed(4), Queueing.of(3, 3));
    release(take(limiter, VICTIM));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    ask(asking, "flood", FLOOD, 4);
    asking.notified();
    requests.time.advance(999);
    requests.timer.run();
    assertThat(asking.notified()).isEmpty();
    requests.time.advance(1);
    requests.timer.run();
    assertThat(asking.notified()).containsExactly("flood 3", "flood 4");
  }

  @Test
  void aRequestWithinItsPartMayWaitWhereTheQueueIsFullOfOthers() {
    AdaptiveLimiter limiter = requests.limiter(fixed(4), Queueing.of(1, 1));
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
    AdaptiveLimiter limiter = requests.limiter(fixed(40), Queueing.of(1, 1));
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
            .time(requests.time, requests.timer)
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
        AdaptiveLimiter.of(fixed(4))
            .time(requests.time, requests.timer)
            .prioritizer(prioritizer)
            .tenants(TERMS);
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
    AdaptiveLimiter limiter = requests.limiter(movable(1, 16, 16), Queueing.of(3, 3));
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
  void aListedTenantThatJoinsInventedOnesHasEachPermitThatEndsUpToItsPart() {
    AdaptiveLimiter limiter = requests.limiter(fixed(100), Queueing.of(2, 2));
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
  void aRequestWithinItsPartIsAdmittedAfterAWaitingOneThatMayHaveAnotherPermit() {
    AdaptiveLimiter limiter = requests.limiter(fixed(4), Queueing.of(3, 3));
    release(take(limiter, VICTIM));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    ask(asking, "flood", FLOOD, 3);
    assertThat(asking.notified()).containsExactly("flood 1", "flood 2");
    assertThat(limiter.tryAcquire(request(listed("flood", 3)))).as("its part is 3 now").isNull();
    assertThat(asking.notified()).containsExactly("flood 3");
    assertThat(limiter.tryAcquire(request(VICTIM))).as("its part is 1").isNotNull();
  }
}
