package io.throttlekit.fairness;

import io.throttlekit.CounterKey;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FairPool} whose state is in a store: numbers, and a row for each active tenant. A
 * transaction creates it from the numbers and the rows of the tenants that it charges, requests
 * decisions, and writes both back. It has the decisions of a pool in memory. Not thread-safe.
 *
 * <p>Rows of tenants that were last seen before the window before the pool's may be deleted.
 */
public final class StoredPool {
  /** Stands for the unknown key of a tenant that is evicted. */
  static final CounterKey NO_KEY = CounterKey.of("evicted tenant");

  private static final long[] UNUSED = {Long.MIN_VALUE, 0, 0};

  private final StoredTenants tenants;
  private final FairPool pool;

  /**
   * A tenant.
   *
   * @param windowEndMillis the last window that it was seen in, named by its end
   * @param used parts charged in that window
   * @param place in the order in which tenants are evicted; each row of a pool has another one
   */
  public record Row(TenantWeight weight, long windowEndMillis, long used, long place) {}

  /**
   * Rows of one weight, seen in the pool's window, that have used {@code from} to below {@code to}.
   */
  public record Range(TenantWeight weight, long from, long to) {}

  /** The number of rows of a range, and the sum of what they have used. */
  public record Sum(long count, long used) {
    static final Sum NONE = new Sum(0, 0);
  }

  /** The rows of the pool in the store, as they were before the transaction. */
  public interface Rows {

    /** Returns the sum of each range. */
    List<Sum> sums(List<Range> ranges);

    /**
     * Returns the active row with the lowest place, except for those of the transaction's tenants
     * and evicted ones; null if there is none.
     *
     * @param activeFromMillis the first window of active tenants
     */
    @Nullable Row oldest(boolean listed, long activeFromMillis);

    /** Deletes the row that {@link #oldest} returned last. */
    void evict(Row oldest);
  }

  /**
   * Creates a pool.
   *
   * @param terms of its first charge
   * @param numbers as returned by {@link #numbers}; null for a new pool
   * @param known the rows of the tenants that will be charged, if they have one
   */
  public StoredPool(
      FairTerms terms, long @Nullable [] numbers, Map<CounterKey, Row> known, Rows rows) {
    this(terms, numbers, UNUSED[0], known, rows);
  }

  private StoredPool(
      FairTerms terms,
      long @Nullable [] numbers,
      long windowEndMillis,
      Map<CounterKey, Row> known,
      Rows rows) {
    long[] stored = numbers == null ? UNUSED : numbers;
    this.tenants = new StoredTenants(terms, rows);
    tenants.restore(stored, known);
    FairShares shares = new FairShares(terms, tenants, stored[1]);
    shares.roll(windowEndMillis);
    shares.grant(terms.limit());
    // It may have had other terms: the first charge evicts tenants beyond their number.
    this.pool = new FairPool(terms.withMaxTenants(FairTerms.MAX_TENANTS), shares);
  }

  /**
   * Creates a pool of a window of its own, beside that of the window before, whose numbers stay.
   *
   * @param before the numbers of the window before; null if it has none
   * @param known the rows of the tenants that will be charged, in the window before
   */
  public static StoredPool next(
      FairTerms terms,
      long @Nullable [] before,
      long windowEndMillis,
      Map<CounterKey, Row> known,
      Rows rows) {
    return new StoredPool(terms, before, windowEndMillis, known, rows);
  }

  /** Returns the pool, which decides. */
  public FairPool pool() {
    return pool;
  }

  /** Returns window, sums and what is used: a few numbers for each weight. */
  public long[] numbers() {
    return tenants.numbers(pool.used());
  }

  /** Returns the row of a tenant of the transaction; null if it is to have none. */
  public @Nullable Row row(CounterKey key) {
    Tenant tenant = tenants.find(key);
    return tenant == null
        ? null
        : new Row(tenant.group.weight, tenant.windowEndMillis, tenant.used, tenant.place);
  }
}
