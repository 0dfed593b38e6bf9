package io.throttlekit.demo.fair;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Counts the requests of each tenant by the second in which they were sent. Thread-safe. */
final class FairTally {
  /** No response reported a limit. */
  static final long UNKNOWN = Long.MAX_VALUE;

  private final Map<Integer, List<Counts>> seconds = new ConcurrentHashMap<>();

  /**
   * The requests of a tenant in a second.
   *
   * @param guarantee the lowest limit that a response reported: what the tenant has before it
   *     borrows; {@link #UNKNOWN} without a response
   */
  record Figures(long sent, long admitted, long refused, long failed, long guarantee) {

    /** Returns what was admitted beyond a part. */
    long beyond(long part) {
      return Math.max(0, admitted - part);
    }

    /** Returns what was refused of the lesser of demand and guarantee. */
    long missing() {
      return guarantee == UNKNOWN ? 0 : Math.max(0, Math.min(sent, guarantee) - admitted);
    }
  }

  private static final class Counts {
    private final LongAdder sent = new LongAdder();
    private final LongAdder admitted = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final AtomicLong guarantee = new AtomicLong(UNKNOWN);

    Figures figures() {
      return new Figures(sent.sum(), admitted.sum(), refused.sum(), failed.sum(), guarantee.get());
    }
  }

  /** Counts a request that is sent. */
  void sent(int second, int tenant) {
    of(second, tenant).sent.increment();
  }

  /**
   * Counts a response.
   *
   * @param status of HTTP; 0 for none
   */
  void answered(int second, int tenant, int status) {
    Counts counts = of(second, tenant);
    switch (status) {
      case 200 -> counts.admitted.increment();
      case 429 -> counts.refused.increment();
      default -> counts.failed.increment();
    }
  }

  /** Records the limit that a response reported. */
  void limit(int second, int tenant, long limit) {
    long _ = of(second, tenant).guarantee.accumulateAndGet(limit, Math::min);
  }

  /** Returns the figures of all tenants in a second. */
  List<Figures> figures(int second) {
    return second(second).stream().map(Counts::figures).toList();
  }

  /** Forgets a second. */
  void forget(int second) {
    seconds.remove(second);
  }

  private Counts of(int second, int tenant) {
    return second(second).get(tenant);
  }

  private List<Counts> second(int second) {
    return seconds.computeIfAbsent(
        second, _ -> FairPlan.TENANTS.stream().map(_ -> new Counts()).toList());
  }
}
