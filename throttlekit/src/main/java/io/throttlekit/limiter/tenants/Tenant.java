package io.throttlekit.limiter.tenants;

import java.util.LinkedHashMap;

/**
 * A tenant in {@link PermitShares}. Guarded by the lock of those.
 *
 * @param <R> a waiting request
 */
public final class Tenant<R> {
  final String name;
  PermitGroup<R> group;
  int inFlight;

  /**
   * The requests that wait, with their positions in the queue of all tenants, in ascending order.
   */
  final LinkedHashMap<R, Long> waiting = new LinkedHashMap<>();

  /** The position of the first one; meaningless if none waits. */
  long first;

  /** When a request last came or ended. Maintained while the tenant is idle. */
  long activeNanos;

  Tenant(String name, PermitGroup<R> group) {
    this.name = name;
    this.group = group;
  }

  /** Returns whether nothing is in flight and nothing waits. */
  boolean isIdle() {
    return inFlight == 0 && waiting.isEmpty();
  }
}
