package io.throttlekit.limiter;

import static io.throttlekit.limit.TestLimits.fixed;
import static io.throttlekit.limiter.PermitCallbacks.taken;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PrioritizerTest {
  private final ManualTime time = new ManualTime(0);
  private final UsageTracker usage = new UsageTracker(time, TimeUnit.MINUTES.toNanos(1), 10);
  private final List<String> events = new ArrayList<>();
  private double lot;
  private final Prioritizer prioritizer =
      new Prioritizer(() -> lot, (before, now) -> events.add(before + " -> " + now), usage);

  @Test
  void row34AHalfFullQueueRefusesTheLowerHalfOfTheLevels() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(2, 4));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    for (double own : new double[] {.1, .4, .2, .3}) {
      lot = own;
      asking.ask("low", request(prioritizer.level(Priority.LOW)));
    }
    assertThat(limiter.figures().queued()).isEqualTo(4);
    asking.permit().record();
    assertThat(limiter.figures().queued()).isEqualTo(3);
    prioritizer.calibrate();
    assertThat(prioritizer.rejectionRate()).isEqualTo(.5);
    assertThat(prioritizer.threshold()).isEqualTo(120);
    assertThat(events).containsExactly("0 -> 120");
  }

  @Test
  void row35AFullQueueRefusesAllButTheHighestQueuedLevel() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(1, 2));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    lot = .2;
    asking.ask("low", request(prioritizer.level(Priority.LOW)));
    lot = .7;
    asking.ask("low", request(prioritizer.level(Priority.LOW)));
    prioritizer.calibrate();
    assertThat(prioritizer.rejectionRate()).isEqualTo(1);
    assertThat(prioritizer.threshold()).isEqualTo(170);
    asking.permit().record();
    asking.permit().record();
    prioritizer.calibrate();
    assertThat(prioritizer.rejectionRate()).isZero();
    assertThat(events).containsExactly("0 -> 170", "170 -> 0");
  }

  @Test
  void row37BelowTheThresholdNoRequestIsQueued() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(1, 2));
    PermitCallbacks asking = withThreshold(limiter, 200);
    asking.ask("low", request(199));
    asking.ask("high", request(300));
    assertThat(asking.notified()).containsExactly("low PRIORITY_TOO_LOW");
    assertThat(limiter.canAcquire(request(199))).isFalse();
    assertThat(limiter.figures().queued()).isEqualTo(1);
  }

  @Test
  void row37WithRoomAnUnsharedPrioritizerAdmitsEveryLevel() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(1, 2));
    PermitCallbacks asking = withThreshold(limiter, 200);
    asking.permit().release();
    assertThat(limiter.canAcquire(request(0))).isTrue();
    asking.ask("low", request(0));
    asking.permit().release();
    asking.ask("high", request(300));
    assertThat(asking.notified()).containsExactly("low", "high");
  }

  @Test
  void row37WithRoomASharedPrioritizerStillRefusesLowLevels() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(1, 2));
    withThreshold(limiter, 200);
    AdaptiveLimiter other = limiter(1, Queueing.of(1, 2));
    PermitCallbacks asking = new PermitCallbacks(other);
    asking.ask("low", request(100));
    assertThat(other.tryAcquire(request(100))).isNull();
    assertThat(other.canAcquire(request(100))).isFalse();
    assertThat(other.canAcquire(request(200))).isTrue();
    asking.ask("high", request(200));
    assertThat(asking.notified()).containsExactly("low PRIORITY_TOO_LOW", "high");
    limiter.close();
    asking.permit().release();
    asking.ask("low", request(100));
    assertThat(asking.notified()).as("alone now").containsExactly("low");
  }

  @Test
  void idleLimitersDoNotReduceTheRejectionRateOfAFullOne() {
    List<AdaptiveLimiter> idle = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      idle.add(limiter(1, Queueing.of(1, 2)));
      taken(idle.getLast().tryAcquire(request(400))).record(); // was in use once
    }
    withThreshold(limiter(1, Queueing.of(1, 2)), 200);
    assertThat(idle.getFirst().canAcquire(request(199))).isFalse();
    assertThat(idle.getFirst().canAcquire(request(200))).isTrue();
  }

  @Test
  void withRoomTheOnlyLimiterInUseAdmitsEveryLevel() {
    AdaptiveLimiter limiter = limiter(2, Queueing.of(1, 2));
    AdaptiveLimiter other = limiter(1, Queueing.of(1, 2));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (int i = 0; i < 6; i++) {
      asking.ask("" + i, request(200));
    }
    prioritizer.calibrate();
    assertThat(prioritizer.threshold()).isEqualTo(200);
    for (int i = 0; i < 5; i++) {
      asking.permit().record();
    }
    assertThat(limiter.canAcquire(request(0))).isTrue();
    Permit used = taken(other.tryAcquire(request(300)));
    assertThat(limiter.canAcquire(request(0))).as("the other is in use").isFalse();
    used.record();
    assertThat(limiter.canAcquire(request(0))).isTrue();
  }

  @Test
  void aConcurrentlyUsedLimiterCountsUntilItsLastRequestEnds() throws InterruptedException {
    AdaptiveLimiter limiter = limiter(2, Queueing.of(1, 2));
    AdaptiveLimiter other = limiter(1, Queueing.of(1, 2));
    Runnable uses =
        () -> {
          for (int i = 0; i < 20_000; i++) {
            taken(limiter.tryAcquire()).release();
          }
        };
    Thread one = Thread.ofPlatform().start(uses);
    Thread two = Thread.ofPlatform().start(uses);
    one.join();
    two.join();
    assertThat(prioritizer.isSharedBy(other)).isFalse();
    Permit last = taken(limiter.tryAcquire());
    assertThat(prioritizer.isSharedBy(other)).isTrue();
    assertThat(prioritizer.isSharedBy(limiter)).isFalse();
    last.release();
    assertThat(prioritizer.isSharedBy(other)).isFalse();
  }

  @Test
  void row38AFullQueueRefusesEveryLevel() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(1, 1));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    asking.ask("waits", request(100));
    prioritizer.calibrate();
    assertThat(prioritizer.threshold()).isEqualTo(100);
    asking.ask("high", request(399));
    assertThat(asking.notified()).containsExactly("in flight", "high QUEUE_FULL");
  }

  @Test
  void row39AUserWithLowUsageIsPreferredWithinAPriority() {
    usage.used("user1", 100);
    usage.used("user2", 200);
    usage.calibrate();
    AdaptiveLimiter limiter = limiter(1, Queueing.of(1, 2));
    PermitCallbacks asking = withThreshold(limiter, 275);
    asking.ask("user1", of("user1"));
    asking.ask("user2", of("user2"));
    assertThat(asking.notified()).containsExactly("user2 PRIORITY_TOO_LOW");
    assertThat(limiter.figures().queued()).isEqualTo(1);
  }

  @Test
  void usageIsTheTimeAPermitWasHeldUnlessReleased() {
    AdaptiveLimiter limiter = limiter(3, Queueing.of(1, 2));
    Permit recorded = taken(limiter.tryAcquire(of("user1")));
    Permit dropped = taken(limiter.tryAcquire(of("user1")));
    Permit released = taken(limiter.tryAcquire(of("user1")));
    time.advance(2);
    recorded.record();
    time.advance(1);
    dropped.drop();
    released.release();
    assertThat(usage.usage("user1")).isEqualTo(5_000_000);
  }

  @Test
  void withoutUsageTrackingLevelsAreRandom() {
    Prioritizer plain = new Prioritizer(() -> .5, PrioritizerListener.NONE, null);
    assertThat(plain.level(Priority.HIGH, "user1")).isEqualTo(350);
    assertThat(new Prioritizer().level(Priority.HIGH)).isBetween(300, 399);
  }

  /** Differs from failsafe-go 0.9.7. */
  @Test
  void queuesStayWithinTheirBoundsWithASharedPrioritizer() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(1, 2));
    AdaptiveLimiter other = limiter(1, Queueing.of(1, 2));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (int i = 0; i < 9; i++) {
      asking.ask("" + i, request(499));
    }
    assertThat(limiter.figures().queued()).isEqualTo(2);
    assertThat(asking.notified())
        .containsExactly(
            "0",
            "3 QUEUE_FULL",
            "4 QUEUE_FULL",
            "5 QUEUE_FULL",
            "6 QUEUE_FULL",
            "7 QUEUE_FULL",
            "8 QUEUE_FULL");
    assertThat(other.figures().queued()).isZero();
  }

  /** Differs from failsafe-go 0.9.7, which counts only levels that passed. */
  @Test
  void theThresholdIsStableUnderConstantLoad() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(100, 300));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    List<PendingPermit> queue = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      queue.add(asking.ask("waits", request(i % 100)));
    }
    for (int second = 0; second < 10; second++) {
      prioritizer.calibrate();
      assertThat(prioritizer.rejectionRate()).isEqualTo(.5);
      assertThat(prioritizer.threshold()).isEqualTo(49);
      for (int i = 0; i < 100; i++) {
        if (i >= prioritizer.threshold()) {
          assertThat(queue.removeFirst().cancel()).isTrue();
          queue.add(asking.ask("waits", request(i)));
        } else {
          asking.ask("low", request(i));
        }
      }
    }
    assertThat(events).containsExactly("0 -> 49");
  }

  /** One in flight, and a queue that was full of {@code level} when the threshold was set. */
  private PermitCallbacks withThreshold(AdaptiveLimiter limiter, int level) {
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    List<PendingPermit> queue = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      queue.add(asking.ask("waits", request(level)));
    }
    prioritizer.calibrate();
    assertThat(prioritizer.threshold()).isEqualTo(level);
    queue.forEach(PendingPermit::cancel);
    asking.notified();
    return asking;
  }

  private PermitRequest of(String user) {
    return new PermitRequest(prioritizer.level(Priority.MEDIUM, user), user, Queueing.NO_TIMEOUT);
  }

  private AdaptiveLimiter limiter(int limit, Queueing queueing) {
    return AdaptiveLimiter.of(fixed(limit))
        .queueing(queueing)
        .prioritizer(prioritizer)
        .time(time, new ManualScheduler(time))
        .build();
  }

  private static PermitRequest request(int level) {
    return new PermitRequest(level, null, Queueing.NO_TIMEOUT);
  }
}
