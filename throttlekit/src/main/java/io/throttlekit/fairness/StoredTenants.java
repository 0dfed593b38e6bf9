package io.throttlekit.fairness;

import io.throttlekit.CounterKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The tenants of a pool that is in a store. Only those of the current request are in memory; others
 * are in the sums, and one that is evicted is read before. Not thread-safe.
 */
final class StoredTenants extends Tenants {
  /**
   * Numbers of a pool: window, what is used, and the next place. Then come those of each weight.
   */
  private static final int POOL = 3;

  private static final int WEIGHT = 8;

  private final StoredPool.Rows rows;

  /** Those in memory, in the order of their places. */
  private final List<Tenant> loaded = new ArrayList<>();

  private long places;

  StoredTenants(FairTerms terms, StoredPool.Rows rows) {
    AmountsReader reader = new AmountsReader(rows);
    super(terms, () -> new StoredAmounts(reader));
    reader.tenants = this;
    this.rows = rows;
  }

  /** Reads the rows between the guarantees that sums are known for and the current ones. */
  private static final class AmountsReader implements Runnable {
    private final StoredPool.Rows rows;
    @Nullable Tenants tenants;

    AmountsReader(StoredPool.Rows rows) {
      this.rows = rows;
    }

    @Override
    public void run() {
      if (tenants == null) {
        return;
      }
      List<WeightGroup> groups = new ArrayList<>(tenants.listed.groups());
      groups.addAll(tenants.unlisted.groups());
      List<StoredPool.Range> ranges = new ArrayList<>();
      List<WeightGroup> read = new ArrayList<>();
      for (WeightGroup group : groups) {
        StoredAmounts amounts = (StoredAmounts) group.amounts();
        long each = group.among.guarantee(group.weight);
        StoredPool.Range range = amounts.between(group.weight, each);
        if (range == null) {
          amounts.move(each, StoredPool.Sum.NONE);
        } else {
          ranges.add(range);
          read.add(group);
        }
      }
      List<StoredPool.Sum> sums = ranges.isEmpty() ? List.of() : rows.sums(ranges);
      for (int i = 0; i < sums.size(); i++) {
        WeightGroup group = read.get(i);
        ((StoredAmounts) group.amounts()).move(group.among.guarantee(group.weight), sums.get(i));
      }
    }
  }

  /** Sets the numbers of {@link #numbers}, and the tenants of the request. */
  void restore(long[] numbers, Map<CounterKey, StoredPool.Row> known) {
    restore(numbers[0]);
    places = numbers[2];
    for (int at = POOL; at < numbers.length; at += WEIGHT) {
      TenantWeight weight = new TenantWeight(numbers[at], numbers[at + 1] > 0);
      TenantClass among = among(weight);
      WeightGroup group = among.group(weight);
      int seen = Math.toIntExact(numbers[at + 2]);
      int carried = Math.toIntExact(numbers[at + 3]);
      long zeros = numbers[at + 5];
      ((StoredAmounts) group.amounts())
          .restore(
              zeros, seen + carried - zeros, numbers[at + 4], numbers[at + 6], numbers[at + 7]);
      group.restore(seen, carried, numbers[at + 4]);
      among.restore(group);
    }
    known.forEach((key, row) -> {
      if (row.windowEndMillis() >= activeFromMillis()) {
        Tenant tenant = ofRow(key, row);
        load(tenant);
        loaded.add(tenant);
      }
    });
    loaded.sort(Comparator.comparingLong(tenant -> tenant.place));
  }

  /** Returns the window, what is used, the next place, and the sums of each weight. */
  long[] numbers(long used) {
    List<WeightGroup> groups = new ArrayList<>(listed.groups());
    groups.addAll(unlisted.groups());
    long[] numbers = new long[POOL + WEIGHT * groups.size()];
    numbers[0] = windowEndMillis();
    numbers[1] = used;
    numbers[2] = places;
    int at = POOL;
    for (WeightGroup group : groups) {
      StoredAmounts amounts = (StoredAmounts) group.amounts();
      numbers[at] = group.weight.value();
      numbers[at + 1] = group.weight.listed() ? 1 : 0;
      numbers[at + 2] = group.seen();
      numbers[at + 3] = group.carried();
      numbers[at + 4] = amounts.guarantee();
      numbers[at + 5] = amounts.zeros();
      numbers[at + 6] = amounts.low();
      numbers[at + 7] = amounts.lowSum();
      at += WEIGHT;
    }
    return numbers;
  }

  /** Returns the number of active tenants: no others are remembered. */
  @Override
  int size() {
    return listed.count() + unlisted.count();
  }

  @Override
  void append(Tenant tenant) {
    tenant.place = places++;
    loaded.add(tenant);
  }

  @Override
  void unlink(Tenant tenant) {
    loaded.remove(tenant);
  }

  @Override
  void clear() {
    super.clear();
    loaded.clear();
  }

  @Override
  void roll(long endMillis) {
    super.roll(endMillis);
    for (Tenant tenant : List.copyOf(loaded)) {
      if (!isActive(tenant)) {
        remove(tenant);
      }
    }
  }

  @Override
  void evictOldest() {
    boolean amongListed = unlisted.count() == 0;
    Tenant oldest = null;
    for (Tenant tenant : loaded) {
      if (tenant.group.weight.listed() == amongListed) {
        oldest = tenant;
        break;
      }
    }
    StoredPool.Row row = rows.oldest(amongListed, activeFromMillis());
    if (row != null && (oldest == null || row.place() < oldest.place)) {
      rows.evict(row);
      Tenant evicted = ofRow(StoredPool.NO_KEY, row);
      evicted.group.among.remove(evicted, isSeen(evicted));
    } else if (oldest != null) {
      remove(oldest);
    } else {
      throw new IllegalStateException("the rows of a pool's tenants are missing");
    }
  }

  private Tenant ofRow(CounterKey key, StoredPool.Row row) {
    Tenant tenant = new Tenant(key, among(row.weight()).group(row.weight()), row.windowEndMillis());
    tenant.used = row.used();
    tenant.indexed = row.used();
    tenant.place = row.place();
    return tenant;
  }
}
