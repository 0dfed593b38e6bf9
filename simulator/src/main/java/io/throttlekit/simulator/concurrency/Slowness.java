package io.throttlekit.simulator.concurrency;

import java.util.function.DoubleUnaryOperator;

/** Changes of the service time that have nothing to do with the load. */
@FunctionalInterface
interface Slowness {
  /** None. */
  Slowness NONE = (_, _) -> new float[] {1};

  /** Changes per second. */
  int RESOLUTION = 10;

  /**
   * Draws the factor of the service times for each tenth of a second; the last one holds for the
   * rest of the run.
   *
   * @param seconds length of the run
   */
  float[] draw(int seconds, Chance chance);

  /**
   * Returns a neighbour that works in bursts of exponentially distributed length, as do the pauses
   * between them.
   *
   * @param factor of the service time during a burst
   * @param burstSeconds mean length of a burst
   * @param pauseSeconds mean length of a pause
   */
  static Slowness bursts(double factor, double burstSeconds, double pauseSeconds) {
    return (seconds, chance) -> {
      float[] factors = new float[seconds * RESOLUTION];
      boolean burst = false;
      double until = pauseSeconds * chance.exponential();
      for (int i = 0; i < factors.length; i++) {
        while (until * RESOLUTION < i) {
          burst = !burst;
          until += (burst ? burstSeconds : pauseSeconds) * chance.exponential();
        }
        factors[i] = burst ? (float) factor : 1;
      }
      return factors;
    };
  }

  /**
   * Returns service times that are correlated: their logarithm is an Ornstein-Uhlenbeck process.
   * The mean factor is 1.
   *
   * @param deviation of the logarithm
   * @param memorySeconds until the correlation has fallen to 1/e
   */
  static Slowness wandering(double deviation, double memorySeconds) {
    double kept = StrictMath.exp(-1 / (memorySeconds * RESOLUTION));
    double added = deviation * Math.sqrt(1 - kept * kept);
    return (seconds, chance) -> {
      float[] factors = new float[seconds * RESOLUTION];
      double log = deviation * chance.normal();
      for (int i = 0; i < factors.length; i++) {
        factors[i] = (float) StrictMath.exp(log - deviation * deviation / 2);
        log = kept * log + added * chance.normal();
      }
      return factors;
    };
  }

  /**
   * Returns service times that fall evenly after the start, as in a process that compiles code
   * while running.
   *
   * @param factor of the service time at the start
   * @param seconds until it is 1
   */
  static Slowness warmUp(double factor, double seconds) {
    return (length, _) ->
        even(length, second -> second < seconds ? second / seconds : 1, factor, 1);
  }

  /**
   * Returns service times that grow evenly until a restart, and then again.
   *
   * @param factor of the service time before a restart
   * @param seconds from one restart to the next
   */
  static Slowness leak(double factor, double seconds) {
    return (length, _) -> even(length, second -> second % seconds / seconds, 1, factor);
  }

  private static float[] even(int seconds, DoubleUnaryOperator share, double from, double to) {
    float[] factors = new float[seconds * RESOLUTION];
    for (int i = 0; i < factors.length; i++) {
      double at = share.applyAsDouble((double) i / RESOLUTION);
      factors[i] = (float) (from + at * (to - from));
    }
    return factors;
  }
}
