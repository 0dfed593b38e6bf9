package io.throttlekit.limiter.tenants;

import static java.util.Comparator.comparingLong;

import io.throttlekit.fairness.TenantWeight;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The active tenants of one weight. All have the same part, so what is reserved for them depends
 * only on how many requests each has in flight. Guarded by the lock of the shares.
 */
final class PermitGroup<R> {
  private static final int MIN_COUNTS = 8;

  final TenantWeight weight;

  /** How many tenants have so many requests in flight. */
  private int[] counts = new int[MIN_COUNTS];

  private int tenants;
  private int part;

  /** The tenants below the part, and their requests in flight. */
  private int below;

  private long inFlightBelow;

  /**
   * The tenants with waiting requests, by their requests in flight, those of one number by their
   * first waiting request. There are few different numbers: at most √(2 · limit).
   */
  private final TreeMap<Integer, TreeSet<Tenant<R>>> waiting = new TreeMap<>();

  PermitGroup(TenantWeight weight) {
    this.weight = weight;
  }

  int tenants() {
    return tenants;
  }

  long weights() {
    return tenants * weight.value();
  }

  int part() {
    return part;
  }

  /** Returns the parts of all tenants. */
  long parts() {
    return (long) tenants * part;
  }

  /** Returns Σ max(0, part − in flight). */
  long reserve() {
    return (long) below * part - inFlightBelow;
  }

  void add(Tenant<R> tenant) {
    count(tenant.inFlight, 1);
    if (!tenant.waiting.isEmpty()) {
      waiting
          .computeIfAbsent(tenant.inFlight, _ -> new TreeSet<>(comparingLong(each -> each.first)))
          .add(tenant);
    }
  }

  /** Removes a tenant, which must not have changed since it was added. */
  void remove(Tenant<R> tenant) {
    count(tenant.inFlight, -1);
    if (!tenant.waiting.isEmpty()) {
      waiting.computeIfPresent(
          tenant.inFlight, (_, same) -> same.remove(tenant) && same.isEmpty() ? null : same);
    }
  }

  /** Sets each tenant's part. Visits the numbers in between, up to the most in flight. */
  void part(int next) {
    int from = Math.min(part, counts.length);
    int to = Math.min(next, counts.length);
    for (int n = from; n < to; n++) {
      below += counts[n];
      inFlightBelow += (long) n * counts[n];
    }
    for (int n = to; n < from; n++) {
      below -= counts[n];
      inFlightBelow -= (long) n * counts[n];
    }
    part = next;
  }

  /** Returns the tenant below its part whose request has waited longest; null if there is none. */
  @Nullable Tenant<R> firstBelow() {
    Tenant<R> first = null;
    for (TreeSet<Tenant<R>> same : waiting.headMap(part).values()) {
      Tenant<R> each = same.first();
      first = first == null || each.first < first.first ? each : first;
    }
    return first;
  }

  private void count(int inFlight, int change) {
    if (inFlight >= counts.length) {
      counts = Arrays.copyOf(counts, Math.max(2 * counts.length, inFlight + 1));
    }
    counts[inFlight] += change;
    tenants += change;
    if (inFlight < part) {
      below += change;
      inFlightBelow += (long) change * inFlight;
    }
  }
}
