package io.throttlekit.service.telemetry.fairness;

import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.PrintableText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
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
   * Finding a place takes longer than the rest of a decision, and all threads take turns at it. So
   * only one in 16 requests of tenants that are not tracked takes one, and a tracked tenant is
   * compared with the shown ones at one in 16 of its requests. All other requests take no lock. Sums
   * of units are exact. What tenants requested, and their windows, are plain fields: a lost update
   * delays a comparison, or is replaced by the next request.
   */

  /** The tenants that are counted by name. */
  static final int MAX_SHOWN = 10;

  /** The tenants that are tracked to find those. */
  static final int MAX_TRACKED = 32;

  /** The longest name, in chars; longer ones are cut. */
  static final int MAX_NAME = 256;

  /** The label of all tenants that are not shown; a tenant of this name has another one. */
  static final String OTHER = "other";

  private static final int LOG_REQUESTS_PER_PLACE = 4;
  private static final int REQUESTS_PER_RANKING = 1 << LOG_REQUESTS_PER_PLACE;

  /**
   * Comparisons after which what was requested counts half, so that a tenant that left is replaced:
   * about 16,384 decisions.
   */
  private static final int RANKINGS_PER_HALVING = (1 << 14) / REQUESTS_PER_RANKING;

  /** Keeps sums and doubled values in range. */
  private static final long MAX_REQUESTED = 1L << 60;

  /** The golden ratio's fraction, of 2^64. */
  private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

  private static final long UNKNOWN = -1;

  private final TimeSource time;
  private final Map<String, Tenant> tracked = new ConcurrentHashMap<>();
  private final Units other = new Units();
  private final LongAdder borrowed = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private int untracked;

  // Guarded by this.
  private final List<Tenant> places = new ArrayList<>(MAX_TRACKED);

  /** At most what the shown tenant that requested least has requested, if all places are used. */
  private long leastShown;

  private int rankings;

  /** Units of one label. */
  private static final class Units {
    final LongAdder admitted = new LongAdder();
    final LongAdder borrowed = new LongAdder();
    final LongAdder refused = new LongAdder();

    void add(long units, long lent, boolean admits) {
      (admits ? admitted : refused).add(units);
      if (lent > 0) {
        borrowed.add(lent);
      }
    }
  }

  /** A tenant that is tracked, with its window as the newest decision reported it. */
  private static final class Tenant {
    final String name;
    long requested;
    long inherited;
    int requests;

    /** Null while it counts as other. */
    volatile @Nullable Units units;

    long guarantee = UNKNOWN;
    long used;
    long windowEndMillis;

    Tenant(String name) {
      this.name = name;
    }

    /** Counts a request; returns whether the tenant is to be compared with the shown ones. */
    boolean request(long units) {
      requested = Math.min(MAX_REQUESTED, requested + units);
      return requests++ % REQUESTS_PER_RANKING == 0;
    }

    /** Returns how many of the units were borrowed: none before its guarantee is known. */
    long observe(long cost, Decision decision, TimeSource time) {
      if (decision.resetAfterMillis() == 0) { // no window decided: an outage, or another charge
        return 0;
      }
      windowEndMillis = time.wallMillis() + decision.resetAfterMillis();
      long now = decision.limit() - decision.remaining();
      used = now;
      if (decision.admitted() && decision.remaining() > 0) {
        guarantee = decision.limit(); // one that borrows has nothing left
      }
      long own = guarantee;
      return decision.admitted() && own != UNKNOWN
          ? Math.max(0, now - Math.max(own, now - cost))
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
   * @param label its name, or {@link #OTHER}
   * @param guarantee in its last window; below 0 if it is not known
   */
  record TenantFigures(String label, long admitted, long borrowed, long refused, long guarantee) {}

  TopTenants(TimeSource time) {
    this.time = time;
  }

  /**
   * Counts a decision on a tenant.
   *
   * @param cost units, from 1
   * @param ranked the part of the cost that counts for the rank: a client may choose any cost
   */
  void decided(String tenant, long cost, long ranked, Decision decision) {
    String name = tenant.length() <= MAX_NAME ? tenant : tenant.substring(0, MAX_NAME);
    Tenant one = tracked.get(name);
    if (one == null && takesPlace()) {
      one = track(name);
    }
    Units units = null;
    long lent = 0; // none if its guarantee is unknown
    if (one != null) {
      if (one.request(ranked)) {
        rank(one);
      }
      lent = one.observe(cost, decision, time);
      units = one.units;
    }
    (units == null ? other : units).add(cost, lent, decision.admitted());
    if (lent > 0) {
      borrowed.add(lent);
    }
    if (!decision.admitted()) {
      refused.add(cost);
    }
  }

  /**
   * Returns the present state.
   *
   * @param windowMillis for which a tenant without requests keeps its reserve
   */
  synchronized Figures figures(long nowMillis, long windowMillis) {
    long reserved = 0;
    List<TenantFigures> tenants = new ArrayList<>(MAX_SHOWN + 1);
    for (Tenant tenant : places) {
      Units units = tenant.units;
      if (units != null) { // its sums are read before its plain fields, which are written earlier
        tenants.add(figures(label(tenant.name), units, tenant));
      }
      reserved += tenant.reserved(nowMillis, windowMillis);
    }
    TenantFigures others = figures(OTHER, other, null);
    if (others.admitted() > 0 || others.refused() > 0) {
      tenants.add(others);
    }
    return new Figures(borrowed.sum(), refused.sum(), reserved, tenants);
  }

  /** Returns the number of tenants in memory. */
  int size() {
    return tracked.size();
  }

  private static TenantFigures figures(String label, Units units, @Nullable Tenant tenant) {
    return new TenantFigures(
        label,
        units.admitted.sum(),
        units.borrowed.sum(),
        units.refused.sum(),
        tenant == null ? UNKNOWN : tenant.guarantee);
  }

  /** Returns a printable text for a name, which no other name has, and which is not the others'. */
  private static String label(String name) {
    return name.equals(OTHER) ? '\\' + OTHER : PrintableText.escaped(name); // no name is escaped so
  }

  /**
   * Returns whether this request of an untracked tenant takes a place. Multiples of the golden
   * ratio are spread evenly also within each period, so a tenant that requests at a fixed rhythm
   * has its part of the places.
   */
  private boolean takesPlace() {
    return (++untracked * GOLDEN) >>> (Long.SIZE - LOG_REQUESTS_PER_PLACE) == 0
        || tracked.size() < MAX_TRACKED;
  }

  /** Returns the tenant, which takes a free place or that of another one. */
  private synchronized Tenant track(String name) {
    Tenant known = tracked.get(name);
    if (known != null) {
      return known; // another thread was faster
    }
    Tenant tenant = new Tenant(name);
    if (places.size() < MAX_TRACKED) {
      if (places.size() < MAX_SHOWN) { // before other threads count it as one of the others
        tenant.units = new Units();
      }
      places.add(tenant);
    } else {
      int at = least(false);
      Tenant least = places.set(at, tenant);
      tracked.remove(least.name);
      tenant.requested = least.requested;
      tenant.inherited = least.requested;
    }
    tracked.put(name, tenant);
    return tenant;
  }

  @SuppressWarnings("ReferenceEquality") // one of the same name may have taken a place meanwhile
  private synchronized void rank(Tenant tenant) {
    halveSometimes();
    if (tenant.units != null || tracked.get(tenant.name) != tenant) {
      return;
    }
    long sure = tenant.requested - tenant.inherited;
    if (sure <= 2 * leastShown) { // spares most searches
      return;
    }
    Tenant least = places.get(least(true));
    leastShown = least.requested;
    if (sure <= 2 * leastShown) {
      return;
    }
    least.units = null;
    tenant.units = new Units();
  }

  /**
   * Returns the place of the tenant that has requested least among the shown ones or the others.
   */
  private int least(boolean isShown) {
    int least = 0;
    long requested = Long.MAX_VALUE;
    for (int i = 0; i < places.size(); i++) {
      Tenant tenant = places.get(i);
      if ((tenant.units != null) == isShown && tenant.requested < requested) {
        least = i;
        requested = tenant.requested;
      }
    }
    return least;
  }

  private void halveSometimes() {
    if (++rankings == RANKINGS_PER_HALVING) {
      rankings = 0;
      leastShown /= 2;
      for (Tenant tenant : places) {
        tenant.requested /= 2;
        tenant.inherited /= 2;
      }
    }
  }
}
