package io.throttlekit.bench.chaos.traffic;

import io.grpc.Status;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** Outcomes of requests: counts, and the last events of each process. Thread-safe. */
public final class Outcomes {
  private static final long NEVER = Long.MIN_VALUE;
  private static final long CALLER_WAITS_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Load.CALLER_WAITS_MILLIS);

  /** Stall of this machine from which an unanswered request is not counted against a process. */
  private static final long MAX_STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final LongAdder sent = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder heldBack = new LongAdder();
  private final LongAdder behind = new LongAdder();
  private final LongAdder unanswered = new LongAdder();
  private final AtomicLongArray underWay;
  private final ConcurrentMap<String, LongAdder> failures = new ConcurrentHashMap<>();

  /** Time at which the caller of a failed request last saw its failure, by process. */
  private final AtomicLongArray lastFailureNanos;

  /** Time at which a process last admitted a unit that all regions share. */
  private final AtomicLongArray lastSharedNanos;

  /** Time since which a process has not been stopped or ended on purpose. */
  private final AtomicLongArray runningSinceNanos;

  Outcomes(int processes) {
    underWay = new AtomicLongArray(processes);
    lastFailureNanos = filled(processes);
    lastSharedNanos = filled(processes);
    runningSinceNanos = filled(processes);
  }

  private static AtomicLongArray filled(int processes) {
    AtomicLongArray times = new AtomicLongArray(processes);
    for (int process = 0; process < processes; process++) {
      times.set(process, NEVER);
    }
    return times;
  }

  void sent(int process) {
    sent.increment();
    underWay.incrementAndGet(process);
  }

  /** Records a request that was not sent, because too many wait for the process. */
  void heldBack(int process, long nowNanos) {
    heldBack.increment();
    lastFailureNanos.accumulateAndGet(process, nowNanos, Math::max);
  }

  /** Records requests that were due and not sent, because the generator had not run. */
  void behind(long requests) {
    behind.add(requests);
  }

  /**
   * Records an answer. One that arrives after its caller's timeout is a failure.
   *
   * @param shared whether it admitted a unit that all regions share
   */
  void answered(int process, long sentNanos, long nowNanos, boolean shared) {
    if (nowNanos - sentNanos > CALLER_WAITS_NANOS) {
      late.increment();
      failedAt(process, sentNanos, nowNanos);
    }
    if (shared) {
      lastSharedNanos.accumulateAndGet(process, nowNanos, Math::max);
    }
  }

  void completed(int process) {
    underWay.decrementAndGet(process);
  }

  /**
   * Records a failure.
   *
   * @param stalledNanos time for which this process did not run while it waited
   */
  void failed(int process, long sentNanos, long nowNanos, long stalledNanos, Status status) {
    underWay.decrementAndGet(process);
    failures.computeIfAbsent(status.getCode().name(), _ -> new LongAdder()).increment();
    failedAt(process, sentNanos, nowNanos);
    boolean expired = status.getCode() == Status.Code.DEADLINE_EXCEEDED;
    long waited = nowNanos - sentNanos;
    // A shorter wait means that the process sent this status itself.
    if (expired
        && waited >= TimeUnit.SECONDS.toNanos(Load.ANSWER_SECONDS)
        && stalledNanos < MAX_STALL_NANOS
        && sentNanos > runningSinceNanos.get(process)) {
      unanswered.increment();
    }
  }

  /**
   * Records the time at which a caller sees a failure: when it arrives, or when the caller gives
   * up.
   */
  private void failedAt(int process, long sentNanos, long nowNanos) {
    long seen = Math.min(nowNanos, sentNanos + CALLER_WAITS_NANOS);
    lastFailureNanos.accumulateAndGet(process, seen, Math::max);
  }

  /** Records that a process is stopped or ended on purpose, until {@link #running}. */
  public void absent(int process) {
    runningSinceNanos.set(process, Long.MAX_VALUE);
  }

  /** Records that a process has to answer requests sent from now on. */
  public void running(int process, long nowNanos) {
    runningSinceNanos.set(process, nowNanos);
  }

  /** Returns the number of requests that a process has not answered yet. */
  public long underWay(int process) {
    return underWay.get(process);
  }

  /** Returns the number of requests that were not answered yet. */
  public long underWay() {
    long all = 0;
    for (int process = 0; process < underWay.length(); process++) {
      all += underWay.get(process);
    }
    return all;
  }

  /** Returns all counts up to now. */
  public RequestFigures figures() {
    Map<String, Long> byStatus = new TreeMap<>();
    failures.forEach((status, times) -> byStatus.put(status, times.sum()));
    return new RequestFigures(
        sent.sum(), byStatus, late.sum(), heldBack.sum(), behind.sum(), unanswered.sum());
  }

  /**
   * Returns the time from a fault to the last failed request, in ns; 0 when none failed.
   *
   * @param sinceNanos when the fault ended, or began
   */
  public long recoveryNanos(long sinceNanos) {
    long latest = sinceNanos;
    for (int process = 0; process < lastFailureNanos.length(); process++) {
      latest = Math.max(latest, lastFailureNanos.get(process));
    }
    return latest - sinceNanos;
  }

  /** Returns whether a region has admitted a unit that all share since a time. */
  private boolean admittedSince(int region, long sinceNanos) {
    for (int process = 0; process < lastSharedNanos.length(); process++) {
      if (ChaosFleet.regionOf(process) == region && lastSharedNanos.get(process) >= sinceNanos) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether every region has. */
  public boolean allRegionsAdmittedSince(long sinceNanos) {
    boolean all = true;
    for (int region = 0; region < ChaosFleet.REGIONS; region++) {
      all &= admittedSince(region, sinceNanos);
    }
    return all;
  }
}
