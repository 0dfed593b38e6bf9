package io.throttlekit.fairness;

import io.throttlekit.CounterKey;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The tenants that a pool remembers, in two classes. A tenant is active if it was seen in this
 * window or in the one before; others are forgotten. Guarded by the pool's lock.
 */
class Tenants {
  /** Tenants forgotten at once: removing all in one decision would delay it. */
  private static final int MAX_FORGOTTEN = 2;

  /** Tenants evicted at once after the bound was lowered, besides one for each new tenant. */
  private static final int MAX_EVICTED = 8;

  final TenantClass listed;
  final TenantClass unlisted;
  private final long windowMillis;
  private final TenantTable table = new TenantTable();

  /** The window, named by its end. */
  private long windowEndMillis = Long.MIN_VALUE;

  private long evicted;

  Tenants(FairTerms terms) {
    this(terms, UsedTree::new);
  }

  /**
   * Creates an object without tenants.
   *
   * @param amounts creates those of each weight
   */
  Tenants(FairTerms terms, Supplier<UsedAmounts> amounts) {
    this.windowMillis = terms.windowMillis();
    this.listed = new TenantClass(terms.partsPerUnit(), amounts);
    this.unlisted = new TenantClass(terms.partsPerUnit(), amounts);
  }

  /** Sets the window of tenants that a store keeps. */
  final void restore(long endMillis) {
    windowEndMillis = endMillis;
  }

  /** Remembers an active tenant that the sums already have. */
  final void load(Tenant tenant) {
    table.add(tenant);
  }

  /** Returns the end of the window before, the last one of tenants that are active. */
  final long activeFromMillis() {
    return windowEndMillis - windowMillis;
  }

  long windowEndMillis() {
    return windowEndMillis;
  }

  int size() {
    return table.size();
  }

  /** Returns how many tenants were forgotten while they were active. */
  long evicted() {
    return evicted;
  }

  @Nullable Tenant find(CounterKey key) {
    return table.find(key);
  }

  boolean isSeen(Tenant tenant) {
    return tenant.windowEndMillis == windowEndMillis;
  }

  boolean isActive(Tenant tenant) {
    return windowEndMillis - tenant.windowEndMillis <= windowMillis;
  }

  /** Sets what guarantees are computed from. */
  void divide(long units, int unlistedMillionths) {
    long all = listed.weight() + unlisted.weight();
    if (listed.weight() > 0
        && Products.compare(unlisted.weight(), FairTerms.ALL, unlistedMillionths, all) > 0) {
      // Both parts are rounded down, so that no guarantee rises when another tenant joins.
      int rest = FairTerms.ALL - unlistedMillionths;
      listed.divide(Products.quotient(rest, units, FairTerms.ALL), listed.weight());
      unlisted.divide(
          Products.quotient(unlistedMillionths, units, FairTerms.ALL), unlisted.weight());
    } else {
      listed.divide(units, all);
      unlisted.divide(units, all);
    }
  }

  /**
   * Returns the tenant, which is seen in this window from now on.
   *
   * @param max the most tenants that may be remembered; another one evicts the oldest
   */
  Tenant enter(CounterKey key, TenantWeight weight, int max) {
    forgetInactive();
    Tenant known = table.find(key);
    if (known == null) {
      makeRoom(max);
      return create(key, weight, 0);
    }
    if (isSeen(known)) {
      return known.hasWeight(weight) ? known : replace(known, weight, known.used);
    }
    if (isActive(known) && known.hasWeight(weight)) {
      known.group.see();
      known.windowEndMillis = windowEndMillis;
      known.used = 0;
      known.indexed = 0;
      known.isChanged = false;
      unlink(known);
      append(known);
      return known;
    }
    return replace(known, weight, 0);
  }

  /** Makes a tenant active, unless it is, as one that was seen in the window before. */
  void expect(CounterKey key, TenantWeight weight, int max) {
    Tenant known = table.find(key);
    if (known != null && isActive(known) && (isSeen(known) || known.hasWeight(weight))) {
      return;
    }
    if (known != null) {
      remove(known);
    }
    makeRoom(max);
    Tenant tenant = probe(key, weight, 0);
    tenant.windowEndMillis = windowEndMillis - windowMillis;
    add(tenant, false);
  }

  /** Lets those that were seen in this window enter other tenants, in the same order. */
  void enterSeen(Tenants others, int max) {
    enterSeen(listed, others, max);
    enterSeen(unlisted, others, max);
  }

  private void enterSeen(TenantClass from, Tenants others, int max) {
    for (Tenant each = from.oldest(); each != null; each = each.after) {
      if (isSeen(each)) {
        others.enter(each.key, each.group.weight, max);
      }
    }
  }

  /** Evicts a few tenants, if more than {@code max} are left. */
  void trim(int max) {
    for (int i = 0; i < MAX_EVICTED && size() > max; i++) {
      evictOldest();
    }
  }

  /** Makes room for another tenant. */
  private void makeRoom(int max) {
    if (size() >= max) {
      evictOldest();
    }
  }

  void evictOldest() {
    Tenant oldest = evictable();
    evicted += isActive(oldest) ? 1 : 0;
    remove(oldest);
  }

  /** Puts a tenant at the end of the order of its class. */
  void append(Tenant tenant) {
    tenant.group.among.append(tenant);
  }

  /** Takes a tenant out of the order of its class. */
  void unlink(Tenant tenant) {
    tenant.group.among.unlink(tenant);
  }

  void remove(Tenant tenant) {
    table.remove(tenant);
    unlink(tenant);
    if (isActive(tenant)) {
      tenant.group.among.remove(tenant, isSeen(tenant));
    }
  }

  /** Removes all tenants. */
  void clear() {
    table.clear();
    listed.clear();
    unlisted.clear();
  }

  /** Begins a window that ends later than the current one. */
  void roll(long endMillis) {
    if (endMillis - windowMillis != windowEndMillis) {
      clear(); // a window without requests lies between
    } else {
      listed.roll();
      unlisted.roll();
    }
    windowEndMillis = endMillis;
  }

  /** Returns a tenant that is not remembered, for what-if questions. */
  Tenant probe(CounterKey key, TenantWeight weight, long used) {
    Tenant tenant = new Tenant(key, among(weight).group(weight), windowEndMillis);
    tenant.used = used;
    return tenant;
  }

  final TenantClass among(TenantWeight weight) {
    return weight.listed() ? listed : unlisted;
  }

  private Tenant replace(Tenant known, TenantWeight weight, long used) {
    remove(known);
    return create(known.key, weight, used);
  }

  private Tenant create(CounterKey key, TenantWeight weight, long used) {
    Tenant tenant = probe(key, weight, used);
    add(tenant, true);
    return tenant;
  }

  private void add(Tenant tenant, boolean seen) {
    tenant.group.among.add(tenant, seen);
    append(tenant);
    table.add(tenant);
  }

  private void forgetInactive() {
    for (int i = 0; i < MAX_FORGOTTEN; i++) {
      forgetInactive(listed.oldest());
      forgetInactive(unlisted.oldest());
    }
  }

  private void forgetInactive(@Nullable Tenant oldest) {
    if (oldest != null && !isActive(oldest)) {
      remove(oldest);
    }
  }

  /** Returns one that is not active, else the oldest unlisted one, else the oldest listed one. */
  private Tenant evictable() {
    Tenant named = listed.oldest();
    Tenant other = unlisted.oldest();
    if (other == null || (named != null && !isActive(named))) {
      if (named == null) {
        throw new IllegalStateException("there is no tenant to evict");
      }
      return named;
    }
    return other;
  }
}
