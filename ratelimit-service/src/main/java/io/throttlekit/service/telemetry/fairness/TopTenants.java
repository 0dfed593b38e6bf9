package io.throttlekit.service.telemetry.fairness;

import io.throttlekit.Decision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Units of the tenants of one rule that request the most, and of all tenants together.
 *
 * <p>Clients may invent tenants, so memory and series are bounded: at most {@link #MAX_SHOWN}
 * tenants are counted by name, the others as {@link #OTHER}, which never decreases. Thread-safe.
 */
final class TopTenants {
  /*
   * Candidates are found by Space-Saving (Metwally, Agrawal, El Abbadi, ICDT 2005): a tenant that is
   * not tracked takes the place of the one that has requested least, and inherits its units. A
   * tenant is sure to have requested what it did not inherit. It takes the place of a shown one if
   * that is more than twice as much, so that similar tenants do not take turns in the metrics.
   *
   * Among many tenants, most requests are of one that is not tracked, and finding the place takes
   * longer than the rest of a decision. So only one in 16 of these requests takes one.
   */

  /** The tenants that are counted by name. */
  static final int MAX_SHOWN = 10;

  /** The tenants that are tracked to find those. */
  static final int MAX_TRACKED = 32;

  /** The longest name, in chars; longer ones are cut. */
  static final int MAX_NAME = 256;

  /** The name of all tenants that are not shown. */
  static final String OTHER = "other";

  /**
   * Decisions after which what was requested counts half, so that a tenant that left is replaced.
   */
  private static final int DECISIONS_PER_HALVING = 1 << 14;

  /** Keeps sums and doubled values in range. */
  private static final long MAX_REQUESTED = 1L << 60;

  /** The golden ratio's fraction, of 2^64. */
  private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

  private static final int LOG_REQUESTS_PER_PLACE = 4;

  private static final long UNKNOWN = -1;

  private final Map<String, Tenant> tracked = new HashMap<>();
  private final Units all = new Units();
  private final Units other = new Units();
  private int shown;
  private int decisions;
  private long untracked;

  /** Units of one name. */
  private static final class Units {
    long admitted;
    long borrowed;
    long refused;

    void add(long units, long lent, boolean admits) {
      admitted += admits ? units : 0;
      borrowed += lent;
      refused += admits ? 0 : units;
    }
  }

  /** A tenant that is tracked, with its window as the newest decision reported it. */
  private static final class Tenant {
    final String name;
    long requested;
    long inherited;

    /** Null while it counts as other. */
    @Nullable Units units;

    long guarantee = UNKNOWN;
    long used;
    long windowEndMillis;

    Tenant(String name) {
      this.name = name;
    }

    /** Returns how many of the units were borrowed: none before its guarantee is known. */
    long observe(long cost, Decision decision, long nowMillis) {
      if (decision.resetAfterMillis() == 0) { // no window decided: an outage, or another charge
        return 0;
      }
      windowEndMillis = nowMillis + decision.resetAfterMillis();
      used = decision.limit() - decision.remaining();
      if (decision.admitted() && decision.remaining() > 0) {
        guarantee = decision.limit(); // one that borrows has nothing left
      }
      return decision.admitted() && guarantee != UNKNOWN
          ? Math.max(0, used - Math.max(guarantee, used - cost))
          : 0;
    }

    /** Returns what is reserved for it; of a window without a request, its whole guarantee. */
    long reserved(long nowMillis, long windowMillis) {
      if (guarantee == UNKNOWN || nowMillis >= windowEndMillis + windowMillis) {
        return 0;
      }
      return nowMillis < windowEndMillis ? Math.max(0, guarantee - used) : guarantee;
    }
  }

  /**
   * The state of a rule.
   *
   * @param borrowed units admitted beyond guarantees
   * @param refused units of refused requests
   * @param reserved units that tracked tenants have not used of their guarantees
   * @param tenants those that are counted by name, and the others last
   */
  record Figures(long borrowed, long refused, long reserved, List<TenantFigures> tenants) {}

  /**
   * The state of a tenant; the first three are sums since it is counted by name.
   *
   * @param guarantee in its last window; below 0 if it is not known
   */
  record TenantFigures(String name, long admitted, long borrowed, long refused, long guarantee) {}

  /**
   * Counts a decision on a tenant.
   *
   * @param cost units, from 1
   * @param ranked the part of the cost that counts for the rank: a client may choose any cost
   */
  synchronized void decided(
      String tenant, long cost, long ranked, Decision decision, long nowMillis) {
    halveSometimes();
    Tenant one = track(tenant.length() <= MAX_NAME ? tenant : tenant.substring(0, MAX_NAME));
    if (one == null) { // its guarantee is unknown, so nothing is borrowed
      all.add(cost, 0, decision.admitted());
      other.add(cost, 0, decision.admitted());
      return;
    }
    one.requested = Math.min(MAX_REQUESTED, one.requested + ranked);
    show(one);
    long lent = one.observe(cost, decision, nowMillis);
    all.add(cost, lent, decision.admitted());
    (one.units == null ? other : one.units).add(cost, lent, decision.admitted());
  }

  /**
   * Returns the present state.
   *
   * @param windowMillis for which a tenant without requests keeps its reserve
   */
  synchronized Figures figures(long nowMillis, long windowMillis) {
    long reserved = 0;
    List<TenantFigures> names = new ArrayList<>(MAX_SHOWN + 1);
    for (Tenant tenant : tracked.values()) {
      reserved += tenant.reserved(nowMillis, windowMillis);
      if (tenant.units != null) {
        names.add(figures(tenant.name, tenant.units, tenant.guarantee));
      }
    }
    if (other.admitted > 0 || other.refused > 0) {
      names.add(figures(OTHER, other, UNKNOWN));
    }
    return new Figures(all.borrowed, all.refused, reserved, names);
  }

  /** Returns the number of tenants in memory. */
  synchronized int size() {
    return tracked.size();
  }

  private static TenantFigures figures(String name, Units units, long guarantee) {
    return new TenantFigures(name, units.admitted, units.borrowed, units.refused, guarantee);
  }

  /** Returns the tenant, which may take the place of another one; null if it takes none. */
  private @Nullable Tenant track(String name) {
    Tenant known = tracked.get(name);
    if (known != null) {
      return known;
    }
    if (tracked.size() == MAX_TRACKED && !takesPlace()) {
      return null;
    }
    Tenant tenant = new Tenant(name);
    if (tracked.size() == MAX_TRACKED) {
      Tenant least = least(candidate -> candidate.units == null);
      tracked.remove(least.name);
      tenant.requested = least.requested;
      tenant.inherited = least.requested;
    }
    tracked.put(name, tenant);
    return tenant;
  }

  /**
   * Returns whether this request of an untracked tenant takes a place. Multiples of the golden
   * ratio are spread evenly also within each period, so a tenant that requests at a fixed rhythm
   * has its part of the places.
   */
  private boolean takesPlace() {
    return (++untracked * GOLDEN) >>> (Long.SIZE - LOG_REQUESTS_PER_PLACE) == 0;
  }

  private void show(Tenant tenant) {
    if (tenant.units != null || tenant.name.equals(OTHER)) { // a tenant may be named so
      return;
    }
    if (shown == MAX_SHOWN) {
      Tenant least = least(candidate -> candidate.units != null);
      if (tenant.requested - tenant.inherited <= 2 * least.requested) {
        return;
      }
      least.units = null;
    } else {
      shown++;
    }
    tenant.units = new Units();
  }

  private Tenant least(Predicate<Tenant> which) {
    Tenant least = null;
    for (Tenant tenant : tracked.values()) {
      if (which.test(tenant) && (least == null || tenant.requested < least.requested)) {
        least = tenant;
      }
    }
    if (least == null) {
      throw new IllegalStateException("more are tracked than shown");
    }
    return least;
  }

  private void halveSometimes() {
    if (++decisions == DECISIONS_PER_HALVING) {
      decisions = 0;
      for (Tenant tenant : tracked.values()) {
        tenant.requested /= 2;
        tenant.inherited /= 2;
      }
    }
  }
}
