package io.throttlekit.simulator.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * Times at which something stands still.
 *
 * @param everySeconds from the start of one to the start of the next; the first begins after it
 * @param seconds length of each, with {@code spread} below {@code everySeconds}
 * @param spread latest start of each after its regular time, in seconds; uniformly distributed
 */
record Interruptions(double everySeconds, double seconds, double spread) {
  /** None. */
  static final Interruptions NONE = new Interruptions(Double.MAX_VALUE, 0, 0);

  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Draws the times of a run: start and end of each interruption in turn, in ns. */
  long[] draw(int runSeconds, Chance chance) {
    int number = (int) (runSeconds / everySeconds);
    long[] times = new long[2 * number];
    for (int i = 0; i < number; i++) {
      double start = (i + 1) * everySeconds + spread * chance.uniform();
      times[2 * i] = (long) (start * SECOND);
      times[2 * i + 1] = (long) ((start + seconds) * SECOND);
    }
    return times;
  }
}
