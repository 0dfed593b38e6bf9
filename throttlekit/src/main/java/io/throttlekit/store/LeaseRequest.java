package io.throttlekit.store;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.FixedWindow;
import org.jspecify.annotations.Nullable;

/**
 * A request for units of one counter, to be spent elsewhere.
 *
 * @param key the counter, the same as for charges
 * @param window its limit
 * @param units requested units, from 1
 * @param onDataLoss the policy for a loss of data in the store or coordinator
 * @param id makes a repeated request take effect once; absent if it is never repeated
 * @param windowEndMillis the window to lease from, named by its end; {@link #CURRENT} for the
 *     current window. Stores lease from the current one only
 * @param size the usual lease size of this process when no requests wait for more, from 1; a
 *     region's escrow is refilled by this size
 * @param usable the units that this process can probably use in this window; at least {@code units}
 * @param terms the terms of a limit that all regions share; absent for one of the region
 * @param regionalOnly whether a coordinator that does not answer receives only probes
 * @param tenant the tenant that leases, as for {@link Charge}; absent for all other counters
 */
public record LeaseRequest(
    CounterKey key,
    FixedWindow window,
    long units,
    DataLoss onDataLoss,
    @Nullable CallId id,
    long windowEndMillis,
    long size,
    long usable,
    @Nullable Terms terms,
    boolean regionalOnly,
    @Nullable FairTenant tenant) {
  /** The window that is current when the store reads the request. */
  public static final long CURRENT = 0;

  /** Creates a request for a counter that no tenants share. */
  public LeaseRequest(
      CounterKey key,
      FixedWindow window,
      long units,
      DataLoss onDataLoss,
      @Nullable CallId id,
      long windowEndMillis,
      long size,
      long usable,
      @Nullable Terms terms,
      boolean regionalOnly) {
    this(
        key,
        window,
        units,
        onDataLoss,
        id,
        windowEndMillis,
        size,
        usable,
        terms,
        regionalOnly,
        null);
  }

  /** Creates a request that is never repeated. */
  public LeaseRequest(CounterKey key, FixedWindow window, long units, DataLoss onDataLoss) {
    this(key, window, units, onDataLoss, null);
  }

  /** Creates a request for the current window of a region's limit. */
  public LeaseRequest(
      CounterKey key, FixedWindow window, long units, DataLoss onDataLoss, @Nullable CallId id) {
    this(key, window, units, onDataLoss, id, CURRENT, units, units, null, false);
  }

  /** Checks the range. */
  public LeaseRequest {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
  }

  /** Returns this request under an id. */
  public LeaseRequest with(CallId callId) {
    return new LeaseRequest(
        key,
        window,
        units,
        onDataLoss,
        callId,
        windowEndMillis,
        size,
        usable,
        terms,
        regionalOnly,
        tenant);
  }

  /** Returns this request for a tenant of the counter. */
  public LeaseRequest of(FairTenant sharing) {
    return new LeaseRequest(
        key,
        window,
        units,
        onDataLoss,
        id,
        windowEndMillis,
        size,
        usable,
        terms,
        regionalOnly,
        sharing);
  }

  /** Returns the key under which ids of calls are recorded: each tenant's calls have their own. */
  public CounterKey callKey() {
    return tenant == null ? key : tenant.key();
  }

  /** Returns a charge on the counter and tenant of this request. */
  Charge charge(long cost, Overrun overrun) {
    return new Charge(key, window, cost, overrun, tenant);
  }

  /** Returns whether it is for a window that need not have begun. */
  public boolean isAhead() {
    return windowEndMillis != CURRENT;
  }
}
