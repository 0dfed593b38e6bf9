package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.ProbedVegasLimit.Settings;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleUnaryOperator;

/** The samples of a probed Vegas, window by window, of a backend without chance. */
final class ProbedVegasCourse {
  /** A window ends with the first request that arrives after a second. */
  static final double WINDOW = 1_010;

  /** Measurements of exactly 50 requests. */
  static final Settings FIFTY =
      new Settings(
          WindowSettings.defaults(),
          TimeUnit.SECONDS.toNanos(60),
          50,
          50,
          TimeUnit.MILLISECONDS.toNanos(600));

  private static final int REQUESTS = 400; // per window
  private static final double DRAINED = 500;

  /** How far the requests in flight are from their mean, in turn. */
  private static final double[] AROUND = {-0.1, 0.1, 0, 0.1, -0.1};

  private final DoubleUnaryOperator latency;

  /** Milliseconds since the beginning. */
  double now;

  /**
   * Creates the course of a backend.
   *
   * @param latency in ms, by the requests in flight
   */
  private ProbedVegasCourse(DoubleUnaryOperator latency) {
    this.latency = latency;
  }

  /** Returns the course of a backend that serves so many requests at once, in so many ms each. */
  static ProbedVegasCourse of(int servers, double millis) {
    return new ProbedVegasCourse(inFlight -> millis * Math.max(1, inFlight / servers));
  }

  /** Returns the same course, with another backend from now on. */
  ProbedVegasCourse then(int servers, double millis) {
    ProbedVegasCourse next = of(servers, millis);
    next.now = now;
    return next;
  }

  ProbedVegasLimit from(int initial) {
    return from(4, initial);
  }

  ProbedVegasLimit from(int min, int initial) {
    return new ProbedVegasLimit(new LimitRange(min, 500, initial), FIFTY, new SplittableRandom(7));
  }

  /** Returns an algorithm after twenty windows with so many requests in flight, none refused. */
  ProbedVegasLimit calm(int initial, int inFlight) {
    ProbedVegasLimit algorithm = from(initial);
    for (int i = 0; i < 20; i++) {
      window(algorithm, inFlight, 0);
    }
    return algorithm;
  }

  /** Returns an algorithm during its first measurement, after requests that queued at once. */
  ProbedVegasLimit measuring(int initial) {
    ProbedVegasLimit algorithm = from(initial);
    for (int i = 0; i < 30 && !algorithm.isProbing(); i++) {
      full(algorithm);
    }
    assertThat(algorithm.isProbing()).isTrue();
    return algorithm;
  }

  /** Adds a window in which the limit was used up and refused many requests. */
  void full(ProbedVegasLimit algorithm) {
    window(algorithm, algorithm.limit(), REQUESTS);
  }

  /** Adds a window. */
  void window(ProbedVegasLimit algorithm, double inFlight, int refused) {
    algorithm.refused(ms(now), refused);
    for (int i = 1; i <= REQUESTS; i++) {
      // The last request ends the window.
      double arrived = i == REQUESTS ? now + WINDOW : now + 1_000.0 * i / REQUESTS;
      long others = Math.round(inFlight * (1 + AROUND[i % AROUND.length]));
      complete(algorithm, arrived, (int) Math.max(1, others));
    }
    now += WINDOW;
  }

  /** Adds a request that began with so many in flight. */
  void complete(ProbedVegasLimit algorithm, double arrived, int inFlight) {
    algorithm.learn(Samples.completed(arrived, latency.applyAsDouble(inFlight), inFlight));
  }

  /** Adds a window with drops. */
  void mixed(ProbedVegasLimit algorithm, int completed, int dropped, int inFlight) {
    algorithm.refused(ms(now), 0);
    for (int i = 0; i < dropped; i++) {
      algorithm.learn(dropped(now + 1, 1_000, inFlight));
    }
    for (int i = 1; i < completed; i++) {
      complete(algorithm, now + 2, inFlight);
    }
    complete(algorithm, now + WINDOW, inFlight);
    now += WINDOW;
  }

  /** Adds requests at the limit of a measurement, once an old queue has drained. */
  void measured(ProbedVegasLimit algorithm, int requests) {
    now += DRAINED;
    int inFlight = algorithm.limit();
    double millis = latency.applyAsDouble(inFlight);
    for (int i = 0; i < requests; i++) {
      complete(algorithm, now + millis + i, inFlight);
    }
    now += millis + requests;
  }

  /** Ends a measurement, whose limiters acknowledge nothing. */
  void endMeasurement(ProbedVegasLimit algorithm) {
    for (int step = 0; step < 10 && algorithm.isProbing(); step++) {
      measured(algorithm, 50);
    }
    assertThat(algorithm.isProbing()).isFalse();
  }
}
