package io.throttlekit.fairness;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The active tenants of one weight. All have the same guarantee, so their reserve depends only on
 * what each has used. Not thread-safe.
 *
 * <p>The reserve follows each charge. The amounts that tenants have used are needed only when the
 * guarantee changes: until then {@link UsedAmounts} have the old ones, and the tenants that have
 * changed are listed.
 */
final class WeightGroup {
  private static final int MIN_CHANGED = 4;

  final TenantWeight weight;
  final TenantClass among;
  private final UsedAmounts used;

  /** Tenants whose {@link Tenant#indexed} amount may be outdated; some have left since. */
  private @Nullable Tenant[] changed = new Tenant[MIN_CHANGED];

  private int changes;

  /** Tenants seen in this window, and those seen in the window before only. */
  private int seen;

  private int carried;

  /** Each tenant's, as of the last {@link #guarantee}. */
  private long guarantee;

  /**
   * Σ max(0, guarantee − used). Modulo 2^64 while more tenants have joined than the guarantee was
   * computed for; exact again after {@link #guarantee}.
   */
  private long reserve;

  /** Creates a group without tenants. */
  WeightGroup(TenantWeight weight, TenantClass among) {
    this(weight, among, new UsedTree());
  }

  /** Creates a group without tenants. */
  WeightGroup(TenantWeight weight, TenantClass among, UsedAmounts used) {
    this.weight = weight;
    this.among = among;
    this.used = used;
  }

  /**
   * Sets the sums of tenants that are not in memory.
   *
   * @param each guarantee of a tenant
   */
  void restore(int seenTenants, int carriedTenants, long each) {
    seen = seenTenants;
    carried = carriedTenants;
    guarantee = each;
    reserve = used.unused(each);
  }

  int count() {
    return seen + carried;
  }

  int seen() {
    return seen;
  }

  int carried() {
    return carried;
  }

  /** Returns the amounts, after those that have changed were brought up to date. */
  UsedAmounts amounts() {
    index();
    return used;
  }

  long reserve() {
    return reserve;
  }

  void add(Tenant tenant, boolean wasSeen) {
    count(wasSeen, 1);
    long amount = wasSeen ? tenant.used : 0;
    tenant.indexed = amount;
    used.add(amount);
    reserve += unused(amount);
  }

  void remove(Tenant tenant, boolean wasSeen) {
    count(wasSeen, -1);
    used.remove(wasSeen ? tenant.indexed : 0);
    tenant.isChanged = false;
    reserve -= unused(wasSeen ? tenant.used : 0);
  }

  private void count(boolean wasSeen, int change) {
    if (wasSeen) {
      seen += change;
    } else {
      carried += change;
    }
  }

  /** Counts a tenant as seen that was carried over. */
  void see() {
    carried--;
    seen++;
  }

  void use(Tenant tenant, long amount) {
    reserve += unused(amount) - unused(tenant.used);
    tenant.used = amount;
    if (!tenant.isChanged) {
      if (changes == changed.length) {
        makeRoom();
      }
      tenant.isChanged = true;
      changed[changes++] = tenant;
    }
  }

  private void makeRoom() {
    if (changes > 2 * count()) { // most have left, or are listed more than once
      index();
    } else {
      changed = Arrays.copyOf(changed, 2 * changes);
    }
  }

  /** Sets each tenant's guarantee. */
  void guarantee(long each) {
    if (each != guarantee) {
      guarantee = each;
      index();
      reserve = used.unused(each);
    }
  }

  /** Begins the next window: those seen in the last one are carried over with nothing used. */
  void roll() {
    changes = 0;
    changed = new Tenant[MIN_CHANGED];
    carried = seen;
    seen = 0;
    used.reset(carried);
    reserve = carried * guarantee;
  }

  /** Brings the tree up to date; in ascending order, so that neighbours are in the cache. */
  private void index() {
    long[] before = new long[changes];
    long[] after = new long[changes];
    int count = 0;
    for (int i = 0; i < changes; i++) {
      Tenant tenant = changed[i];
      if (tenant != null && tenant.isChanged) {
        before[count] = tenant.indexed;
        after[count++] = tenant.used;
        tenant.indexed = tenant.used;
        tenant.isChanged = false;
      }
    }
    Arrays.fill(changed, 0, changes, null);
    changes = 0;
    Arrays.sort(before, 0, count);
    Arrays.sort(after, 0, count);
    for (int i = 0; i < count; i++) {
      used.remove(before[i]);
    }
    for (int i = 0; i < count; i++) {
      used.add(after[i]);
    }
  }

  /** Returns the length of the list of changed tenants. */
  int changes() {
    return changes;
  }

  int depth() {
    return used.depth();
  }

  private long unused(long amount) {
    return Math.max(0, guarantee - amount);
  }
}
