package io.throttlekit.simulator.concurrency;

import java.util.concurrent.TimeUnit;

/** The conditions of one run, drawn from its seed. Times of calls may not run backwards much. */
final class Environment {
  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final double MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  // Independent random streams: their numbers must differ from those of the other classes.
  private static final int WIRE = 4;
  private static final int SLOWNESS = 5;
  private static final int PAUSES = 6;

  private final Conditions conditions;
  private final Chance wire;
  private final float[] slowness;
  private final long[] stalls;
  private final long[] pauses;

  Environment(Plan plan, long seed) {
    this.conditions = plan.conditions();
    this.wire = new Chance(seed, WIRE);
    this.slowness = conditions.slowness().draw(plan.seconds(), new Chance(seed, SLOWNESS));
    Chance chance = new Chance(seed, PAUSES);
    this.stalls = conditions.stalls().draw(plan.seconds(), chance);
    this.pauses = conditions.pauses().draw(plan.seconds(), chance);
  }

  /** Returns the gap after a request, as a multiple of the mean gap. */
  double gap(Chance chance, long nowNanos) {
    return conditions.arrivals().gap(chance, nowNanos / SECOND);
  }

  /**
   * Returns when a request ends that a server begins now.
   *
   * @param nanos service time under normal conditions
   * @param inFlight requests in flight
   */
  long served(long nowNanos, double nanos, int inFlight) {
    double time = nanos;
    if (slowness.length > 1) {
      int at = (int) (nowNanos / SECOND * Slowness.RESOLUTION);
      time *= slowness[Math.min(at, slowness.length - 1)];
    }
    if (conditions.crowding() > 0) {
      double crowd = inFlight / conditions.crowding();
      time *= 1 + crowd * crowd;
    }
    long end = nowNanos + Math.max(1, (long) time);
    for (int i = 0; i < stalls.length && stalls[i] < end; i += 2) {
      end += Math.max(0, stalls[i + 1] - Math.max(stalls[i], nowNanos));
    }
    return end;
  }

  /** Returns whether responses are delivered later than they are sent. */
  boolean delays() {
    return conditions.wireMillis() > 0 || pauses.length > 0;
  }

  /** Returns when a response arrives that a server sends now. */
  long delivered(long nowNanos) {
    if (conditions.wireMillis() == 0) {
      return nowNanos;
    }
    double length = conditions.wire().draw(wire);
    return nowNanos + (long) (length * conditions.wireMillis() * MILLI);
  }

  /** Returns when the limiter's process notices an event: at once, or at the end of a pause. */
  long noticed(long nanos) {
    for (int i = 0; i < pauses.length && pauses[i] <= nanos; i += 2) {
      if (nanos < pauses[i + 1]) {
        return pauses[i + 1];
      }
    }
    return nanos;
  }
}
