package io.throttlekit.fairness;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The used amounts of the tenants of one weight, which are rows of a store. Sums of the rows are
 * known up to the last guarantee; another guarantee needs the rows between the two. Not
 * thread-safe.
 */
final class StoredAmounts implements UsedAmounts {
  private final Runnable reader;

  /** Amounts of 0, and those above 0 in rows of this window. */
  private long zeros;

  private long rows;

  /** Count and sum of the rows from 1 to below the guarantee. */
  private long guarantee;

  private long low;
  private long lowSum;

  /** Amounts above 0 that the rows do not have yet, and those that they have no longer. */
  private final List<Long> added = new ArrayList<>();

  private final List<Long> removed = new ArrayList<>();

  /**
   * Creates an object without amounts.
   *
   * @param reader reads the rows that are missing for the current guarantees, of all weights
   */
  StoredAmounts(Runnable reader) {
    this.reader = reader;
  }

  /** Sets amounts that are in the store. */
  void restore(long ofZero, long aboveZero, long each, long below, long sumBelow) {
    zeros = ofZero;
    rows = aboveZero;
    guarantee = each;
    low = below;
    lowSum = sumBelow;
  }

  @Override
  public void reset(int count) {
    restore(count, 0, guarantee, 0, 0);
    added.clear();
    removed.clear();
  }

  @Override
  public void add(long amount) {
    if (amount == 0) {
      zeros++;
    } else {
      added.add(amount);
    }
  }

  @Override
  public void remove(long amount) {
    if (amount == 0) {
      zeros--;
    } else {
      removed.add(amount);
    }
  }

  @Override
  public long unused(long each) {
    if (each != guarantee) {
      reader.run();
    }
    if (each != guarantee) {
      throw new IllegalStateException("sums were read for another guarantee");
    }
    return (zeros + low()) * guarantee - lowSum();
  }

  /** Returns the range of rows to read for another guarantee; null if there are none. */
  StoredPool.@Nullable Range between(TenantWeight weight, long each) {
    long between = each < guarantee ? low : rows - low; // at most
    long from = Math.max(1, Math.min(each, guarantee));
    long to = Math.max(each, guarantee);
    return between == 0 || from >= to ? null : new StoredPool.Range(weight, from, to);
  }

  /** Moves to another guarantee, with the sum of the rows between. */
  void move(long each, StoredPool.Sum between) {
    int sign = each < guarantee ? -1 : 1;
    low += sign * between.count();
    lowSum += sign * between.used();
    guarantee = each;
  }

  long guarantee() {
    return guarantee;
  }

  /** Returns how many amounts are 0. */
  long zeros() {
    return zeros;
  }

  /** Returns how many amounts are above 0 and below the guarantee. */
  long low() {
    return low + count(added) - count(removed);
  }

  /** Returns the sum of the amounts below the guarantee. */
  long lowSum() {
    return lowSum + sum(added) - sum(removed);
  }

  @Override
  public int depth() {
    return 1;
  }

  private long count(List<Long> amounts) {
    return amounts.stream().filter(amount -> amount < guarantee).count();
  }

  private long sum(List<Long> amounts) {
    return amounts.stream().mapToLong(Long::longValue).filter(amount -> amount < guarantee).sum();
  }
}
