package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import java.util.List;

/**
 * When the node that steers calls for frequent heartbeats of all nodes: while it measures at a
 * lowered limit, and for two heartbeat intervals after the limit has changed by a seventh, or the
 * load has shifted. Then nodes apply a limit, and report what it caused, within a fraction of a
 * second.
 *
 * <p>In a steady state there are none. They end by themselves: after a time at most, with the lease
 * of the steering node if it dies, and without answers. Times are monotonic ns. Not thread-safe.
 */
final class HeartbeatPace {
  /** The relative change of the limit that nodes should apply soon; AIMD falls by less. */
  private static final double MOVED = 0.15;

  /** Heartbeat intervals for which heartbeats are frequent after a change. */
  private static final int INTERVALS = 2;

  /** The longest time in heartbeat intervals, and the shortest time after it without. */
  private static final int MAX_INTERVALS = 15;

  /**
   * Heartbeat intervals without many refusals after which some are the beginning of an overload.
   */
  private static final int CALM_INTERVALS = 5;

  /** Refusals that are no chance. */
  private static final int MIN_REFUSED = 5;

  /** Many are refused: a quarter of those that were answered. */
  private static final int MANY_ONE_IN = 4;

  /** Few are refused, compared with those that were answered. */
  private static final int FEW_ONE_IN = 20;

  /** The relative change of the mean latency of many requests that is no chance. */
  private static final double CHANGE = 1.25;

  private static final int MANY_REQUESTS = 50;

  /** The weight of the latest mean latency in what later ones are compared with. */
  private static final double WEIGHT = 0.2;

  private final long heartbeatNanos;
  private long sinceNanos;
  private long untilNanos;
  private long refusedNanos;
  private int limit;
  private double latency;

  /**
   * Creates the pace of a new steering lease, without frequent heartbeats.
   *
   * @param heartbeatNanos time between two heartbeats of each node
   */
  HeartbeatPace(long heartbeatNanos, int limit, long nowNanos) {
    this.heartbeatNanos = heartbeatNanos;
    this.limit = limit;
    this.sinceNanos = nowNanos - 2L * MAX_INTERVALS * heartbeatNanos;
    this.untilNanos = nowNanos;
    this.refusedNanos = nowNanos - CALM_INTERVALS * heartbeatNanos;
  }

  /**
   * Adds what an answer brought.
   *
   * @param next limit of the fleet by now
   * @return whether heartbeats are to be frequent
   */
  boolean isFrequent(List<SampleDigest> digests, int next, boolean measuring, long nowNanos) {
    boolean moved = Math.abs((double) next - limit) >= MOVED * limit;
    limit = next;
    boolean onset = isOnset(digests, nowNanos);
    boolean shift = isShift(digests);
    if (onset || shift || moved || measuring) {
      call(nowNanos);
    }
    return nowNanos - untilNanos < 0 && nowNanos - sinceNanos < MAX_INTERVALS * heartbeatNanos;
  }

  private void call(long nowNanos) {
    long most = MAX_INTERVALS * heartbeatNanos;
    long passed = nowNanos - sinceNanos;
    if (untilNanos - sinceNanos >= most && passed >= most && passed < 2 * most) {
      return; // lasted as long as it may
    }
    if (nowNanos - untilNanos >= 0 || passed >= 2 * most) {
      sinceNanos = nowNanos;
    }
    untilNanos = nowNanos + INTERVALS * heartbeatNanos;
  }

  private boolean isOnset(List<SampleDigest> digests, long nowNanos) {
    long refused = digests.stream().mapToLong(SampleDigest::refused).sum();
    long answered = digests.stream().mapToLong(SampleDigest::answered).sum();
    boolean begins =
        refused >= MIN_REFUSED
            && refused >= answered / MANY_ONE_IN
            && nowNanos - refusedNanos >= CALM_INTERVALS * heartbeatNanos;
    if (refused > answered / FEW_ONE_IN) {
      refusedNanos = nowNanos;
    }
    return begins;
  }

  private boolean isShift(List<SampleDigest> digests) {
    long answered = digests.stream().mapToLong(SampleDigest::answered).sum();
    if (answered < MANY_REQUESTS) {
      return false;
    }
    double now = digests.stream().mapToDouble(SampleDigest::busyNanos).sum() / answered;
    boolean changed = latency > 0 && (now > CHANGE * latency || now * CHANGE < latency);
    latency = latency == 0 || changed ? now : latency + WEIGHT * (now - latency);
    return changed;
  }
}
