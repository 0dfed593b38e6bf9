package io.throttlekit.fairness;

import io.throttlekit.CounterKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Tenants by key, in a hash table with linear probing. Keys of one scope are compared by their
 * 128-bit hash, which each tenant holds, so that a look-up among many tenants reads two objects
 * that are not in the cache in place of five.
 */
final class TenantTable {
  private static final int MIN_SLOTS = 16;

  /** At most half of the slots are used, and their number is a power of two. */
  private @Nullable Tenant[] slots = new Tenant[MIN_SLOTS];

  private int size;

  int size() {
    return size;
  }

  @Nullable Tenant find(CounterKey key) {
    long low = key.lowHash();
    for (int at = home(low); ; at = after(at)) {
      Tenant tenant = slots[at];
      if (tenant == null || (tenant.lowHash == low && tenant.highHash == key.highHash())) {
        return tenant;
      }
    }
  }

  /** Adds a tenant whose key is not in the table. */
  void add(Tenant tenant) {
    size++;
    if (2 * size > slots.length) {
      @Nullable Tenant[] old = slots;
      slots = new Tenant[2 * old.length];
      for (Tenant one : old) {
        if (one != null) {
          put(one);
        }
      }
    }
    put(tenant);
  }

  /** Removes a tenant that is in the table. */
  void remove(Tenant tenant) {
    int gap = home(tenant.lowHash);
    while (slots[gap] != tenant) {
      gap = after(gap);
    }
    slots[gap] = null;
    size--;
    // Those behind the gap that it separates from their home move up.
    for (int at = after(gap); ; at = after(at)) {
      Tenant next = slots[at];
      if (next == null) {
        return;
      }
      if (distance(home(next.lowHash), at) >= distance(gap, at)) {
        slots[gap] = next;
        slots[at] = null;
        gap = at;
      }
    }
  }

  void clear() {
    if (slots.length > MIN_SLOTS) {
      slots = new Tenant[MIN_SLOTS]; // clearing a large one takes long
    } else {
      Arrays.fill(slots, null);
    }
    size = 0;
  }

  private void put(Tenant tenant) {
    int at = home(tenant.lowHash);
    while (slots[at] != null) {
      at = after(at);
    }
    slots[at] = tenant;
  }

  private int home(long lowHash) {
    return (int) lowHash & (slots.length - 1);
  }

  private int after(int at) {
    return (at + 1) & (slots.length - 1);
  }

  private int distance(int from, int to) {
    return (to - from) & (slots.length - 1);
  }
}
