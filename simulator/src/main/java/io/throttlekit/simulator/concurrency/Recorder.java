package io.throttlekit.simulator.concurrency;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Records what happens in each second. */
final class Recorder {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Course.Second[] seconds;
  private float[] rtts = new float[1 << 16];
  private int ended;
  private int at;
  private long now;
  private int limit;
  private boolean probing;
  private Course.Second second = new Course.Second(0);

  Recorder(int length) {
    this.seconds = new Course.Second[length];
  }

  /** Advances the time to {@code nanos}, without other events in between. */
  void advance(long nanos) {
    while (at < seconds.length && nanos >= (at + 1) * SECOND) {
      hold((at + 1) * SECOND);
      seconds[at++] = second;
      second = new Course.Second(ended);
      second.probed = probing;
    }
    hold(nanos);
  }

  void arrived(boolean admitted) {
    second.offered++;
    if (!admitted) {
      second.refused++;
    }
  }

  void inFlight(int inFlight) {
    second.maxInFlight = Math.max(second.maxInFlight, inFlight);
  }

  void ended(long rttNanos) {
    if (ended == rtts.length) {
      rtts = Arrays.copyOf(rtts, 2 * ended);
    }
    rtts[ended++] = rttNanos / (float) TimeUnit.MILLISECONDS.toNanos(1);
    second.ended++;
  }

  /** Sets the limit in effect from now on. */
  void limit(int applied, boolean lowered) {
    limit = applied;
    probing = lowered;
    second.probed |= lowered;
  }

  Course finish(Plan plan) {
    return new Course(plan, seconds, Arrays.copyOf(rtts, ended));
  }

  private void hold(long until) {
    second.limitNanos += (double) limit * (until - now);
    now = until;
  }
}
