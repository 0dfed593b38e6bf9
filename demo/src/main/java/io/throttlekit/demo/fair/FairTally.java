package io.throttlekit.demo.fair;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the requests of each tenant by the second in which they were sent. A response that arrives
 * in a later second may have been decided in any second until then. Thread-safe.
 */
final class FairTally {
  /** No response reported a limit. */
  static final long UNKNOWN = Long.MAX_VALUE;

  private final Map<Integer, List<Counts>> seconds = new ConcurrentHashMap<>();

  /**
   * The requests of a tenant in a second.
   *
   * @param guarantee the lowest limit that a response reported: what the tenant has before it
   *     borrows; {@link #UNKNOWN} without a response
   * @param decided responses that arrived in the second of their request; 0 if none did in the
   *     second before, as the guarantee of a tenant that comes back is not reserved yet
   * @param possible requests that may have been admitted in the second, whenever they were sent
   */
  record Figures(
      long sent,
      long admitted,
      long refused,
      long failed,
      long guarantee,
      long decided,
      long possible) {

    /** Returns what was admitted beyond a part. */
    long beyond(long part) {
      return Math.max(0, admitted - part);
    }

    /** Returns what was surely refused of the lesser of demand and guarantee. */
    long missing() {
      return guarantee == UNKNOWN ? 0 : Math.max(0, Math.min(decided, guarantee) - possible);
    }
  }

  private static final class Counts {
    private final LongAdder sent = new LongAdder();
    private final LongAdder admitted = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder decided = new LongAdder();
    private final LongAdder possible = new LongAdder();
    private final AtomicLong guarantee = new AtomicLong(UNKNOWN);

    Figures figures(boolean wasActive) {
      return new Figures(
          sent.sum(),
          admitted.sum(),
          refused.sum(),
          failed.sum(),
          guarantee.get(),
          wasActive ? decided.sum() : 0,
          possible.sum());
    }

    boolean isAnswered() {
      return sent.sum() == admitted.sum() + refused.sum() + failed.sum();
    }
  }

  /** Counts a request that is sent. */
  void sent(int second, int tenant) {
    of(second, tenant).sent.increment();
  }

  /**
   * Counts a response.
   *
   * @param second of the request
   * @param last second of the response
   * @param status of HTTP; 0 for none
   */
  void answered(int second, int last, int tenant, int status) {
    Counts counts = of(second, tenant);
    if (status == 200) {
      for (int any = second; any <= last; any++) {
        of(any, tenant).possible.increment();
      }
    }
    if (second == last && (status == 200 || status == 429)) {
      counts.decided.increment();
    }
    switch (status) { // last, for isAnswered()
      case 200 -> counts.admitted.increment();
      case 429 -> counts.refused.increment();
      default -> counts.failed.increment();
    }
  }

  /** Returns whether all requests of a second have been answered. */
  boolean isAnswered(int second) {
    return second(second).stream().allMatch(Counts::isAnswered);
  }

  /** Records the limit that a response reported. */
  void limit(int second, int tenant, long limit) {
    long _ = of(second, tenant).guarantee.accumulateAndGet(limit, Math::min);
  }

  /** Returns the figures of all tenants in a second. */
  List<Figures> figures(int second) {
    List<Figures> figures = new ArrayList<>();
    for (int tenant = 0; tenant < FairPlan.TENANTS.size(); tenant++) {
      figures.add(of(second, tenant).figures(of(second - 1, tenant).decided.sum() > 0));
    }
    return figures;
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
