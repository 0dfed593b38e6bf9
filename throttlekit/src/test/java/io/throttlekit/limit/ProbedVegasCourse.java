package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static io.throttlekit.limit.Samples.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.ProbedVegasLimit.Settings;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** The samples of a probed Vegas, window by window. */
final class ProbedVegasCourse {
  /** A window ends with the first request that arrives after a second. */
  static final double WINDOW = 1_010;

  static final Settings FIFTY =
      new Settings(
          WindowSettings.defaults(),
          TimeUnit.SECONDS.toNanos(60),
          50,
          50,
          TimeUnit.MILLISECONDS.toNanos(600));

  private static final double DRAINED = 500;

  /** Milliseconds since the beginning. */
  double now;

  /**
   * Returns an algorithm that has just measured 60 ms, with a limiter that acknowledged the limit.
   */
  ProbedVegasLimit acknowledged() {
    ProbedVegasLimit algorithm = calm(40, 20);
    algorithm.acknowledged(algorithm.limit(), ms(now));
    for (int i = 0; i < 5; i++) {
      saturated(algorithm, 60, 40);
      algorithm.acknowledged(algorithm.limit(), ms(now));
    }
    now += 700;
    probed(algorithm, 60, 50);
    assertThat(algorithm.isProbing()).isFalse();
    return algorithm;
  }

  ProbedVegasLimit from(int initial) {
    return new ProbedVegasLimit(new LimitRange(4, 500, initial), FIFTY, new SplittableRandom(7));
  }

  /**
   * Returns an algorithm after ten windows without queue or refusal, and with too little load to
   * grow.
   */
  ProbedVegasLimit calm(int initial, double rttMillis) {
    ProbedVegasLimit algorithm = from(initial);
    for (int i = 0; i < 10; i++) {
      window(algorithm, rttMillis, (initial - 1) / 2);
    }
    assertThat(algorithm.limit()).isEqualTo(initial);
    return algorithm;
  }

  /** Returns an algorithm during a measurement, after only these samples. */
  ProbedVegasLimit measuring(int initial, double rttMillis) {
    ProbedVegasLimit algorithm = calm(initial, rttMillis);
    for (int second = 0; second < 40 && !algorithm.isProbing(); second++) {
      saturated(algorithm, rttMillis, (initial - 1) / 2);
      assertThat(algorithm.baseline.nanos()).isEqualTo((double) ms(rttMillis));
    }
    assertThat(algorithm.isProbing()).isTrue();
    return algorithm;
  }

  void window(ProbedVegasLimit algorithm, double rttMillis, int inFlight) {
    algorithm.refused(ms(now), 0); // the first window starts with the first call
    second(algorithm, now, rttMillis, inFlight, false);
    algorithm.learn(completed(now + WINDOW, rttMillis, inFlight));
    now += WINDOW;
  }

  void saturated(ProbedVegasLimit algorithm, double rttMillis, int inFlight) {
    algorithm.refused(ms(now), 5);
    window(algorithm, rttMillis, inFlight);
  }

  /** Asserts that the limit is the same as before a measurement lowered it by the maximum. */
  static void assertRestored(ProbedVegasLimit algorithm, int lowered) {
    assertThat(algorithm.limit())
        .isBetween((int) (lowered / 0.4), (int) Math.ceil((lowered + 1) / 0.4));
  }

  void mixed(ProbedVegasLimit algorithm, int completed, int dropped) {
    for (int i = 0; i < dropped; i++) {
      algorithm.learn(dropped(now + 1, 1_000, 30));
    }
    for (int i = 1; i < completed; i++) {
      algorithm.learn(completed(now + 2, 20, 30));
    }
    algorithm.learn(completed(now + WINDOW, 20, 30));
    now += WINDOW;
  }

  /** Adds requests that begin one after another once an old queue has drained. */
  void probed(ProbedVegasLimit algorithm, double rttMillis, int requests) {
    now += DRAINED;
    for (int i = 0; i < requests; i++) {
      algorithm.learn(completed(now + rttMillis + i, rttMillis, 1));
    }
    now += rttMillis + requests;
  }
}
