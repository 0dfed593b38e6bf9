package io.throttlekit.limiter;

import static io.throttlekit.limit.TestLimits.fixed;
import static io.throttlekit.limit.TestLimits.movable;
import static io.throttlekit.limiter.PermitCallbacks.taken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.ManualTime;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdaptiveLimiterQueueTest {
  private static final long MILLI = 1_000_000;

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final List<Refusal> refusals = new ArrayList<>();
  private double lot;

  @Test
  void row16AQueuedRequestIsAdmittedWhenAPermitIsRecorded() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(2, 3));
    Permit permit = taken(limiter.tryAcquire());
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("waits");
    assertThat(limiter.figures().queued()).isEqualTo(1);
    assertThat(asking.notified()).isEmpty();
    permit.record();
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 1, 0, 0));
    assertThat(asking.notified()).containsExactly("waits");
  }

  @Test
  void row20ARequestIsRefusedAtOnceIfTheQueueIsFull() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(3, 3));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    asking.ask("1");
    asking.ask("2");
    assertThat(limiter.canAcquire(PermitRequest.PLAIN)).isTrue();
    asking.ask("3");
    assertThat(limiter.canAcquire(PermitRequest.PLAIN)).isFalse();
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 1, 3, 1));
    assertThat(asking.notified()).containsExactly("in flight");
    asking.ask("4");
    assertThat(asking.notified()).containsExactly("4 QUEUE_FULL");
    assertThat(limiter.figures().queued()).isEqualTo(3);
    assertThat(refusals).containsExactly(Refusal.QUEUE_FULL);
  }

  @Test
  void refusesRandomlyWithAProbabilityThatGrowsWithTheQueue() {
    AdaptiveLimiter limiter = limiter(10, Queueing.of(1, 2));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    lot = 0;
    for (int i = 0; i < 20; i++) {
      asking.ask("" + i);
    }
    assertThat(asking.notified()).hasSize(10);
    assertThat(limiter.figures().rejectionRate()).as("10 wait").isZero();
    asking.ask("at rate 0, even with the least lot");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(10, 10, 11, .1));
    lot = .1;
    asking.ask("refused");
    lot = .11;
    asking.ask("may wait");
    assertThat(asking.notified()).containsExactly("refused QUEUE_FULL");
    assertThat(limiter.figures().queued()).isEqualTo(12);
  }

  @Test
  void servesTheQueueInOrder() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(9, 9));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("a");
    asking.ask("b");
    asking.ask("c");
    assertThat(limiter.tryAcquire()).isNull();
    asking.permit().release();
    asking.permit().release();
    assertThat(asking.notified()).containsExactly("a", "b", "c");
    assertThat(refusals).containsExactly(Refusal.LIMIT_REACHED);
  }

  @Test
  void aNewRequestDoesNotOvertakeTheQueueAfterAnIncrease() {
    AdaptiveLimiter[] limiter = new AdaptiveLimiter[1];
    boolean[] overtaken = {false};
    LimiterListener atTheRise =
        new LimiterListener() {
          @Override
          public void limitChanged(int before, int now) {
            overtaken[0] = limiter[0].tryAcquire() != null;
          }
        };
    limiter[0] =
        AdaptiveLimiter.of(movable(1, 2, 1))
            .queueing(Queueing.of(9, 9))
            .listener(atTheRise)
            .build();
    PermitCallbacks asking = new PermitCallbacks(limiter[0]);
    asking.ask("in flight");
    asking.ask("waits");
    limiter[0].learn(TestLimits.GROW);
    assertThat(overtaken[0]).isFalse();
    assertThat(asking.notified()).containsExactly("in flight", "waits");
  }

  @Test
  void aTimedOutRequestIsRefusedAndRemoved() {
    AdaptiveLimiter limiter = limiter(1, new Queueing(9, 9, 20 * MILLI));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    asking.ask("20 ms", waiting(50));
    asking.ask("5 ms", waiting(5));
    asking.ask("none at all", waiting(0));
    assertThat(asking.notified()).containsExactly("in flight", "none at all LIMIT_REACHED");
    pass(4);
    assertThat(asking.notified()).isEmpty();
    pass(1);
    assertThat(asking.notified()).containsExactly("5 ms WAITED_TOO_LONG");
    pass(14);
    assertThat(limiter.figures().queued()).isEqualTo(1);
    pass(1);
    assertThat(asking.notified()).containsExactly("20 ms WAITED_TOO_LONG");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 1, 0, 0));
    assertThat(timer.size()).isZero();
    assertThat(refusals)
        .containsExactly(Refusal.LIMIT_REACHED, Refusal.WAITED_TOO_LONG, Refusal.WAITED_TOO_LONG);
    asking.permit().release();
    assertThat(asking.notified()).isEmpty();
    assertThat(limiter.figures().inFlight()).isZero();
  }

  @Test
  void aPermitSkipsATimedOutRequestForTheNext() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(9, 9));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    asking.ask("impatient", waiting(5));
    asking.ask("patient");
    time.advance(5); // the timer is late
    asking.permit().release();
    assertThat(asking.notified())
        .containsExactly("in flight", "impatient WAITED_TOO_LONG", "patient");
  }

  @Test
  void requestsWithTheSameTimeoutShareATimer() {
    AdaptiveLimiter limiter = limiter(1, new Queueing(99, 99, 20 * MILLI));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (int i = 0; i < 50; i++) {
      asking.ask("" + i);
    }
    assertThat(timer.size()).isEqualTo(1);
  }

  @Test
  void aLongWaitKeepsASingleTimerBesideManyShortOnes() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(99, 99));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    asking.ask("an hour", waiting(3_600_000));
    for (int i = 0; i < 1_000; i++) {
      asking.ask("5 ms", waiting(5));
      pass(5);
    }
    assertThat(limiter.figures().queued()).isEqualTo(1);
    assertThat(timer.size()).isEqualTo(1);
  }

  @Test
  void aCancelledRequestIsNotNotifiedAndTheNextMovesUp() {
    AdaptiveLimiter limiter = limiter(1, new Queueing(9, 9, 20 * MILLI));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    PendingPermit inFlight = asking.ask("a");
    PendingPermit b = asking.ask("b");
    PendingPermit c = asking.ask("c");
    assertThat(inFlight.cancel()).isFalse();
    assertThat(b.cancel()).isTrue();
    assertThat(b.cancel()).isFalse();
    assertThat(limiter.figures().queued()).isEqualTo(1);
    asking.permit().release();
    assertThat(c.cancel()).isFalse();
    pass(50);
    assertThat(asking.notified()).containsExactly("a", "c");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 1, 0, 0));
  }

  @Test
  void closeRefusesQueuedRequestsAndDisablesTheQueue() {
    AdaptiveLimiter limiter = limiter(1, Queueing.of(9, 9));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("in flight");
    asking.ask("waits");
    limiter.close();
    asking.ask("late");
    assertThat(asking.notified()).containsExactly("in flight", "waits CLOSED", "late CLOSED");
    asking.permit().release();
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 0, 0, 0));
    asking.ask("finds room");
    assertThat(asking.notified()).containsExactly("finds room");
  }

  @Test
  void aLongQueueOfImmediateReleasesIsServedWithoutRecursion() {
    int waiting = 100_000;
    AdaptiveLimiter limiter = limiter(1, Queueing.of(waiting, waiting));
    Permit permit = taken(limiter.tryAcquire());
    int[] admitted = {0};
    for (int i = 0; i < waiting; i++) {
      limiter.acquire(
          PermitRequest.PLAIN,
          onAdmission(own -> {
            admitted[0]++;
            own.record();
          }));
    }
    permit.record();
    assertThat(admitted[0]).isEqualTo(waiting);
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 0, 0, 0));
  }

  @Test
  void aThrowingCallbackLosesItsPermitAndBlocksNoRequest() {
    List<String> shown = new ArrayList<>();
    Thread thread = Thread.currentThread();
    thread.setUncaughtExceptionHandler((_, bug) -> shown.add(bug.getMessage()));
    AdaptiveLimiter limiter = limiter(1, Queueing.of(9, 9));
    Permit permit = taken(limiter.tryAcquire());
    limiter.acquire(PermitRequest.PLAIN, onAdmission(own -> fail("later")));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("next");
    permit.release();
    thread.setUncaughtExceptionHandler(null);
    assertThat(shown).containsExactly("later");
    assertThat(asking.notified()).containsExactly("next");
    asking.permit().release();
    assertThatThrownBy(
            () -> limiter.acquire(PermitRequest.PLAIN, onAdmission(own -> fail("at once"))))
        .hasMessage("at once");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 0, 0, 0));
  }

  @Test
  void queuedRequestsStayWhenTheQueueShrinksWithTheLimit() {
    AdaptiveLimiter limiter =
        AdaptiveLimiter.of(movable(1, 4, 4)).time(time, timer).queueing(Queueing.of(1, 1)).build();
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (int i = 0; i < 8; i++) {
      asking.ask("" + i);
    }
    limiter.learn(TestLimits.SHRINK);
    limiter.learn(TestLimits.SHRINK);
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 4, 4, 1));
    assertThat(asking.notified()).containsExactly("0", "1", "2", "3");
  }

  private static void fail(String message) {
    throw new IllegalStateException(message);
  }

  private interface Admission {
    void admitted(Permit permit);
  }

  private static PermitCallback onAdmission(Admission admission) {
    return new PermitCallback() {
      @Override
      public void admitted(Permit permit) {
        admission.admitted(permit);
      }

      @Override
      public void refused(Refusal why) {
        throw new AssertionError(why);
      }
    };
  }

  private static PermitRequest waiting(long millis) {
    return new PermitRequest(0, null, millis * MILLI);
  }

  private void pass(long millis) {
    time.advance(millis);
    timer.run();
  }

  private AdaptiveLimiter limiter(int limit, Queueing queueing) {
    return AdaptiveLimiter.of(fixed(limit))
        .queueing(queueing)
        .time(time, timer)
        .random(() -> lot)
        .listener(
            new LimiterListener() {
              @Override
              public void refused(Refusal why) {
                refusals.add(why);
              }
            })
        .build();
  }
}
