package io.throttlekit.bench.chaos;

import io.grpc.Status;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** What became of requests: how many, and when each process last did what. Thread-safe. */
final class Outcomes {
  private static final long NEVER = Long.MIN_VALUE;

  private final LongAdder sent = new LongAdder();
  private final LongAdder unanswered = new LongAdder();
  private final AtomicLongArray underWay;
  private final ConcurrentMap<String, LongAdder> failures = new ConcurrentHashMap<>();

  /** When a request that a process failed was sent, the newest; and the time of its failure. */
  private final AtomicLongArray lastFailureNanos;

  /** When a process last admitted a unit that all regions share. */
  private final AtomicLongArray lastSharedNanos;

  /** Since when a process has not been stopped or ended on purpose. */
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

  /**
   * Notes an answer.
   *
   * @param shared whether it admitted a unit that all regions share
   */
  void answered(int process, long nowNanos, boolean shared) {
    if (shared) {
      lastSharedNanos.accumulateAndGet(process, nowNanos, Math::max);
    }
  }

  void completed(int process) {
    underWay.decrementAndGet(process);
  }

  void failed(int process, long sentNanos, long nowNanos, Status status) {
    underWay.decrementAndGet(process);
    failures.computeIfAbsent(status.getCode().name(), _ -> new LongAdder()).increment();
    lastFailureNanos.accumulateAndGet(process, nowNanos, Math::max);
    boolean late = status.getCode() == Status.Code.DEADLINE_EXCEEDED;
    long waited = nowNanos - sentNanos;
    if (late
        && waited >= TimeUnit.SECONDS.toNanos(Load.ANSWER_SECONDS) / 2
        && sentNanos > runningSinceNanos.get(process)) {
      unanswered.increment();
    }
  }

  /** Notes that a process is stopped or ended on purpose, until {@link #running}. */
  void absent(int process) {
    runningSinceNanos.set(process, Long.MAX_VALUE);
  }

  /** Notes that a process is to answer what is sent from now on. */
  void running(int process, long nowNanos) {
    runningSinceNanos.set(process, nowNanos);
  }

  /** Requests that a process has not answered yet. */
  long underWay(int process) {
    return underWay.get(process);
  }

  /** Requests that were not answered yet. */
  long underWay() {
    long all = 0;
    for (int process = 0; process < underWay.length(); process++) {
      all += underWay.get(process);
    }
    return all;
  }

  /** Requests that were sent. */
  long requests() {
    return sent.sum();
  }

  /** Requests that a running process, which a slow machine may have kept, did not answer. */
  long unanswered() {
    return unanswered.sum();
  }

  /** Requests that were neither admitted nor refused. */
  long failed() {
    return failures.values().stream().mapToLong(LongAdder::sum).sum();
  }

  /** The same, by status. */
  Map<String, Long> failures() {
    Map<String, Long> byStatus = new TreeMap<>();
    failures.forEach((status, times) -> byStatus.put(status, times.sum()));
    return byStatus;
  }

  /**
   * How long after a fault the last request failed, in ns; 0 when none did.
   *
   * @param endNanos when the fault ended
   */
  long recoveryNanos(long endNanos) {
    long latest = endNanos;
    for (int process = 0; process < lastFailureNanos.length(); process++) {
      latest = Math.max(latest, lastFailureNanos.get(process));
    }
    return latest - endNanos;
  }

  /** Whether a region has admitted a unit that all share since then. */
  private boolean admittedSince(int region, long sinceNanos) {
    for (int process = 0; process < lastSharedNanos.length(); process++) {
      if (ChaosFleet.regionOf(process) == region && lastSharedNanos.get(process) >= sinceNanos) {
        return true;
      }
    }
    return false;
  }

  /** Whether every region has. */
  boolean allRegionsAdmittedSince(long sinceNanos) {
    boolean all = true;
    for (int region = 0; region < ChaosFleet.REGIONS; region++) {
      all &= admittedSince(region, sinceNanos);
    }
    return all;
  }
}
