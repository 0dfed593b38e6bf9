package io.throttlekit.service.generated;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.descriptors.policy.ReferenceMatcher;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.Transition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counters as maps, where what is tried can be thrown away: a draft is what changed on top of
 * others. Fixed windows are counted here by hand, other algorithms by their own transitions.
 */
final class ReferenceCounters {
  private static final long MAX = (1L << 53) - 1;

  private final @Nullable ReferenceCounters below;
  private final Map<List<Object>, @Nullable Object> changed = new HashMap<>();

  /** Stays as it is when a draft is thrown away: tenants that asked are active. */
  private final ReferencePool.Requests requests;

  ReferenceCounters() {
    this(null, new ReferencePool.Requests());
  }

  private ReferenceCounters(@Nullable ReferenceCounters below, ReferencePool.Requests requests) {
    this.below = below;
    this.requests = requests;
  }

  /** Units used in the window that begins at {@code start}. */
  private record Used(long start, long units) {}

  /** Returns a draft on top of these counters. */
  ReferenceCounters draft() {
    return new ReferenceCounters(this, requests);
  }

  /** Commits this draft. */
  void keep() {
    if (below != null) {
      below.changed.putAll(changed);
    }
  }

  /** Counts {@code cost}, below 0 for a refund, 0 for a peek, on the counter of these entries. */
  Decision charge(
      String domain,
      ReferenceRequest request,
      RateAlgorithm<?> algorithm,
      long cost,
      Overrun overrun,
      long now) {
    List<Object> counter = new ArrayList<>(request.charged());
    counter.add(0, algorithm.windowMillis());
    counter.add(0, algorithm.id());
    counter.add(0, domain);
    ReferenceMatcher.Tenant tenant = request.tenant();
    if (tenant != null) {
      counter.add("pool");
      return chargePool(counter, request, tenant, algorithm, cost, overrun, now);
    }
    return algorithm instanceof FixedWindow window
        ? chargeWindow(counter, window.limit(), window.windowMillis(), cost, overrun, now)
        : chargeOther(algorithm, counter, cost, overrun, now);
  }

  private Decision chargePool(
      List<Object> counter,
      ReferenceRequest request,
      ReferenceMatcher.Tenant tenant,
      RateAlgorithm<?> algorithm,
      long cost,
      Overrun overrun,
      long now) {
    long window = now / algorithm.windowMillis();
    ReferencePool.Used before = (ReferencePool.Used) find(counter);
    ReferencePool pool =
        requests.pool(
            counter,
            before == null ? new ReferencePool.Used(window, Map.of()) : before,
            request.share(),
            algorithm.limit(),
            window);
    long untilEnd = (window + 1) * algorithm.windowMillis() - now;
    Decision decision = pool.charge(tenant, cost, overrun, untilEnd);
    changed.put(counter, pool.used());
    return decision;
  }

  private Decision chargeWindow(
      List<Object> counter, long limit, long window, long cost, Overrun overrun, long now) {
    long start = now / window * window;
    long end = start + window;
    Used last = (Used) find(counter);
    long used = last == null || last.start() < start ? 0 : last.units();
    if (cost < 0) {
      used = Math.max(0, used + cost);
      changed.put(counter, new Used(start, used));
      return Decision.admit(limit, Math.max(0, limit - used), end - now);
    }
    long needed = cost == 0 && overrun != Overrun.COUNT ? 1 : cost;
    long left = Math.max(0, limit - used);
    boolean admitted = used + needed <= limit;
    boolean counted = cost > 0 && (admitted || overrun != Overrun.REFUSE);
    if (counted) {
      changed.put(counter, new Used(start, Math.min(MAX, used + cost)));
      left -= cost;
    }
    return admitted
        ? Decision.admit(limit, left, end - now)
        : Decision.refuse(limit, left, end - now, needed > limit ? Decision.NEVER : end - now);
  }

  private <S> Decision chargeOther(
      RateAlgorithm<S> algorithm, List<Object> counter, long cost, Overrun overrun, long now) {
    @SuppressWarnings("unchecked") // the counter's name determines the algorithm of its state
    S state = (S) find(counter);
    Transition<S> next =
        cost < 0
            ? algorithm.refund(state, now, -cost)
            : algorithm.charge(state, now, cost, overrun);
    changed.put(counter, next.state());
    return next.decision();
  }

  private @Nullable Object find(List<Object> counter) {
    return below == null || changed.containsKey(counter)
        ? changed.get(counter)
        : below.find(counter);
  }
}
