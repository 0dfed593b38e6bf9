package io.throttlekit.limiter;

import static io.throttlekit.limit.TestLimits.GROW;
import static io.throttlekit.limit.TestLimits.SHRINK;
import static io.throttlekit.limit.TestLimits.fixed;
import static io.throttlekit.limit.TestLimits.movable;
import static io.throttlekit.limiter.PermitCallbacks.taken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.ManualTime;
import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.limit.Sample;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows are those of failsafe-go 0.9.7's adaptive limiter and of its semaphore. */
class AdaptiveLimiterTest {
  private static final long MILLI = 1_000_000;

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final List<String> events = new ArrayList<>();

  @Test
  void row15APermitIsInFlightUntilItIsRecorded() {
    AdaptiveLimiter limiter = limiter(fixed(1)).build();
    Permit permit = taken(limiter.tryAcquire());
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 1, 0, 1));
    assertThat(limiter.tryAcquire()).isNull();
    assertThat(limiter.canAcquire(PermitRequest.PLAIN)).isFalse();
    permit.record();
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 0, 0, 0));
    assertThat(limiter.canAcquire(PermitRequest.PLAIN)).isTrue();
    assertThat(limiter.tryAcquire()).isNotNull();
  }

  @Test
  void row17AReplacedAlgorithmStartsAtItsInitialLimit() {
    AdaptiveLimiter limiter = limiter(movable(5, 100, 10)).build();
    for (int i = 0; i < 40; i++) {
      limiter.learn(GROW);
    }
    assertThat(limiter.figures().limit()).isEqualTo(50);
    Permit permit = taken(limiter.tryAcquire());
    events.clear();
    limiter.replaceAlgorithm(movable(5, 100, 10));
    assertThat(events).containsExactly("50 -> 10");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(10, 1, 0, 0));
    permit.drop();
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(5, 0, 0, 0));
  }

  @Test
  void row18LimitsAndQueuesOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new LimitRange(2, 2, 1)).hasMessageContaining("initial 1");
    assertThatThrownBy(() -> new LimitRange(1, 2, 0)).hasMessageContaining("initial 0");
    assertThatThrownBy(() -> new LimitRange(1, 2, 3)).hasMessageContaining("initial 3");
    assertThatThrownBy(() -> Queueing.of(.5, 2)).hasMessageContaining("0.5, 2.0");
    assertThatThrownBy(() -> Queueing.of(2, .5)).hasMessageContaining("2.0, 0.5");
    assertThatThrownBy(() -> Queueing.of(2, 1)).hasMessageContaining("2.0, 1.0");
    assertThatThrownBy(() -> Queueing.of(Double.NaN, 1)).hasMessageContaining("NaN");
    assertThatThrownBy(() -> Queueing.of(1, Double.NaN)).hasMessageContaining("NaN");
    assertThatThrownBy(() -> new Queueing(1, 1, 0)).hasMessageEndingWith("and 0");
    assertThatThrownBy(() -> request(500)).hasMessageContaining("500");
    assertThatThrownBy(() -> request(-1)).hasMessageContaining("-1");
    assertThatThrownBy(() -> new PermitRequest(0, null, -1)).hasMessageContaining("-1");
  }

  @Test
  void aMeasurementTimesOutAtTheNextRequest() {
    AdaptiveLimiter limiter = limiter(measuredEachSecond()).build();
    PermitCallbacks callbacks = new PermitCallbacks(limiter);
    beginMeasurement(limiter);
    Permit hangs = taken(limiter.tryAcquire());
    assertThat(limiter.tryAcquire()).isNull();
    time.advance(900);
    assertThat(limiter.tryAcquire()).isNull();
    assertThat(limiter.canAcquire(PermitRequest.PLAIN)).isFalse();
    time.advance(100);
    assertThat(limiter.canAcquire(PermitRequest.PLAIN)).isTrue();
    callbacks.ask("admitted");
    assertThat(callbacks.notified()).containsExactly("admitted");
    assertThat(events).contains("1 -> 4");
    hangs.release();
  }

  @Test
  void requestsThatWaitForAMeasurementAreAdmittedWhenItHasTimedOut() {
    AdaptiveLimiter limiter = limiter(measuredEachSecond()).queueing(Queueing.of(5, 5)).build();
    PermitCallbacks callbacks = new PermitCallbacks(limiter);
    beginMeasurement(limiter);
    callbacks.ask("hangs");
    callbacks.ask("waits");
    assertThat(callbacks.notified()).containsExactly("hangs");
    time.advance(1_000);
    callbacks.ask("next");
    assertThat(callbacks.notified()).containsExactly("waits", "next");
  }

  /** Returns a limit of 4 that is lowered to 1 for measurements. */
  private static ConcurrencyLimit measuredEachSecond() {
    Recalibration eachSecond = new Recalibration(1_000 * MILLI, 1, 2);
    return new AimdLimit(
        new LimitRange(1, 4, 4), new AimdLimit.Settings(.9, 2, 100, null, eachSecond));
  }

  private void beginMeasurement(AdaptiveLimiter limiter) {
    taken(limiter.tryAcquire()).record(MILLI);
    time.advance(1_000);
    taken(limiter.tryAcquire()).record(MILLI);
    assertThat(limiter.figures().limit()).isEqualTo(1);
  }

  @Test
  void row31AnIncreaseAdmitsQueuedRequests() {
    AdaptiveLimiter limiter = limiter(movable(1, 3, 1)).queueing(Queueing.of(5, 5)).build();
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (String name : List.of("first", "second", "third")) {
      asking.ask(name);
    }
    assertThat(asking.notified()).containsExactly("first");
    limiter.learn(GROW);
    assertThat(asking.notified()).containsExactly("second");
    limiter.replaceAlgorithm(fixed(3));
    assertThat(asking.notified()).containsExactly("third");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(3, 3, 0, 0));
  }

  @Test
  void row31ADecreaseRevokesNoPermitAndReleasesPayTheDebtFirst() {
    AdaptiveLimiter limiter = limiter(movable(1, 3, 3)).queueing(Queueing.of(5, 5)).build();
    PermitCallbacks asking = new PermitCallbacks(limiter);
    for (int i = 0; i < 4; i++) {
      asking.ask("" + i);
    }
    assertThat(asking.notified()).containsExactly("0", "1", "2");
    limiter.learn(SHRINK);
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(1, 3, 1, 0));
    asking.permit().release();
    asking.permit().release();
    assertThat(asking.notified()).isEmpty();
    asking.permit().release();
    assertThat(asking.notified()).containsExactly("3");
    assertThat(limiter.tryAcquire()).isNull();
    asking.permit().release();
    assertThat(limiter.tryAcquire()).isNotNull();
    assertThat(limiter.tryAcquire()).isNull();
  }

  @Test
  void row76EndingAPermitTwiceHasNoEffect() {
    AdaptiveLimiter limiter = limiter(movable(1, 9, 2)).build();
    Permit permit = taken(limiter.tryAcquire());
    assertThat(limiter.tryAcquire()).isNotNull();
    time.advance(1);
    permit.record();
    permit.record();
    permit.drop();
    permit.release();
    permit.close();
    assertThat(events).as("learned once, and not of the drop").containsExactly("2 -> 3");
    assertThat(limiter.figures().inFlight()).isEqualTo(1);
  }

  @Test
  void closeReleasesAPermitWithoutASample() {
    AdaptiveLimiter limiter = limiter(movable(1, 9, 4)).build();
    assertThatThrownBy(
            () -> {
              try (Permit permit = limiter.tryAcquire()) {
                throw new IllegalStateException("no backend, permit " + (permit != null));
              }
            })
        .hasMessage("no backend, permit true");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(4, 0, 0, 0));
  }

  @Test
  void aSampleStartsAtThePermitAndContainsTheInFlightThen() {
    AimdLimit algorithm = halving(4);
    AdaptiveLimiter limiter = limiter(algorithm).queueing(Queueing.of(1, 1)).build();
    Permit first = taken(limiter.tryAcquire());
    Permit second = taken(limiter.tryAcquire());
    time.advance(1);
    first.record();
    assertThat(algorithm.limit()).as("1 of 4").isEqualTo(4);
    second.record();
    assertThat(algorithm.limit()).as("2 of 4").isEqualTo(5);
    limiter.replaceAlgorithm(afterOneMilli(halving(1)));
    PermitCallbacks asking = new PermitCallbacks(limiter);
    asking.ask("holds");
    asking.ask("waits");
    time.advance(2);
    asking.permit().release();
    time.advance(2);
    asking.permit().record();
    assertThat(limiter.figures().limit()).as("it took 2 ms, and waited 2 before").isEqualTo(2);
    Permit slow = taken(limiter.tryAcquire());
    time.advance(3);
    slow.record();
    assertThat(limiter.figures().limit()).isEqualTo(1);
  }

  /** Halves if a request takes more than twice the least; grows with half of it in flight. */
  private static AimdLimit halving(int initial) {
    return new AimdLimit(
        new LimitRange(1, 9, initial), new AimdLimit.Settings(.5, 2, 100, null, null));
  }

  /** Returns the limit, whose latency without load is 1 ms from here on. */
  private static AimdLimit afterOneMilli(AimdLimit limit) {
    int before = limit.limit();
    limit.learn(new Sample(0, MILLI, 0, 1, false, false));
    if (limit.limit() > before) {
      limit.learn(new Sample(0, MILLI, 0, 1, false, true)); // 1 + 1, halved
    }
    assertThat(limit.limit()).isEqualTo(before);
    return limit;
  }

  @Test
  void aCallerCanReportAMeasuredLatency() {
    AimdLimit algorithm = afterOneMilli(halving(4));
    AdaptiveLimiter limiter = limiter(algorithm).build();
    Permit late = taken(limiter.tryAcquire());
    Permit slow = taken(limiter.tryAcquire());
    time.advance(1_000);
    assertThatThrownBy(() -> slow.record(-1)).hasMessageContaining("-1");
    assertThat(limiter.figures().inFlight()).isEqualTo(2);
    slow.record(2 * MILLI);
    assertThat(algorithm.limit()).as("not too long, with 2 of 4 in flight").isEqualTo(5);
    late.record(3 * MILLI);
    late.record(3 * MILLI);
    assertThat(algorithm.limit()).isEqualTo(2);
    assertThat(limiter.figures().inFlight()).isZero();
  }

  @Test
  void aListenerIsNotifiedAndItsExceptionsAreIsolated() {
    Thread thread = Thread.currentThread();
    thread.setUncaughtExceptionHandler((_, bug) -> events.add("shown: " + bug.getMessage()));
    AdaptiveLimiter limiter =
        AdaptiveLimiter.of(movable(1, 9, 1))
            .listener(
                new LimiterListener() {
                  @Override
                  public void limitChanged(int before, int now) {
                    throw new IllegalStateException(before + " -> " + now);
                  }

                  @Override
                  public void refused(Refusal why) {
                    throw new IllegalStateException(why.name());
                  }
                })
            .build();
    Permit permit = taken(limiter.tryAcquire());
    assertThat(limiter.tryAcquire()).isNull();
    permit.record();
    thread.setUncaughtExceptionHandler(null);
    assertThat(events).containsExactly("shown: LIMIT_REACHED", "shown: 1 -> 2");
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(2, 0, 0, 0));
  }

  private LimiterBuilder limiter(ConcurrencyLimit algorithm) {
    return AdaptiveLimiter.of(algorithm)
        .time(time, timer)
        .listener(
            new LimiterListener() {
              @Override
              public void limitChanged(int before, int now) {
                events.add(before + " -> " + now);
              }
            });
  }

  private static PermitRequest request(int level) {
    return new PermitRequest(level, null, Queueing.NO_TIMEOUT);
  }
}
