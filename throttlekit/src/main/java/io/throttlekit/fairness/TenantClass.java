package io.throttlekit.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The tenants with a listed weight, or those without: their weights, reserve, and the order in
 * which they are forgotten. Guarded by the pool's lock.
 *
 * <p>The guarantee of a weight w is ⌊w · budget / divisor⌋ units. The reserve is kept up to date
 * with each charge. After a change of budget or divisor it is computed anew when it is needed: for
 * each weight whose guarantee has changed, from its {@link UsedAmounts}.
 */
final class TenantClass {
  private final long partsPerUnit;
  private final Supplier<UsedAmounts> amounts;
  private final List<WeightGroup> groups = new ArrayList<>();

  private long weight;
  private int count;
  private long budget;
  private long divisor = 1;
  private long reserve;
  private boolean outdated;

  /** The order in which tenants were first seen in their last window. */
  private @Nullable Tenant oldest;

  private @Nullable Tenant newest;

  TenantClass(long partsPerUnit) {
    this(partsPerUnit, UsedTree::new);
  }

  /**
   * Creates a class without tenants.
   *
   * @param amounts creates those of each weight
   */
  TenantClass(long partsPerUnit, Supplier<UsedAmounts> amounts) {
    this.partsPerUnit = partsPerUnit;
    this.amounts = amounts;
  }

  /** Returns the sum of the weights of active tenants. */
  long weight() {
    return weight;
  }

  /** Returns the number of active tenants. */
  int count() {
    return count;
  }

  /** Sets what guarantees are computed from. */
  void divide(long units, long among) {
    long by = Math.max(1, among); // without tenants there is no guarantee
    outdated |= units != budget || by != divisor;
    budget = units;
    divisor = by;
  }

  long guarantee(TenantWeight of) {
    return partsPerUnit * Products.quotient(of.value(), budget, divisor);
  }

  /** Returns Σ max(0, guarantee − used) over all active tenants. */
  long reserve() {
    if (outdated) {
      outdated = false;
      for (WeightGroup group : groups) {
        reserve -= group.reserve();
        group.guarantee(guarantee(group.weight));
        reserve += group.reserve();
      }
    }
    return reserve;
  }

  /** Returns the group of a weight; it counts once it has a tenant. */
  WeightGroup group(TenantWeight of) {
    for (WeightGroup group : groups) {
      if (group.weight.value() == of.value()) {
        return group;
      }
    }
    return new WeightGroup(of, this, amounts.get());
  }

  /** Returns the groups of active tenants. */
  List<WeightGroup> groups() {
    return groups;
  }

  /** Adds a group of tenants that are not in memory. */
  void restore(WeightGroup group) {
    groups.add(group);
    weight += group.count() * group.weight.value();
    count += group.count();
    reserve += group.reserve();
    outdated = true;
  }

  /** Adds an active tenant to the sums. */
  void add(Tenant tenant, boolean seen) {
    WeightGroup group = tenant.group;
    if (group.count() == 0) {
      groups.add(group);
      outdated = true; // its guarantee is of another time
    }
    reserve -= group.reserve();
    group.add(tenant, seen);
    reserve += group.reserve();
    weight += group.weight.value();
    count++;
  }

  /** Removes an active tenant from the sums. */
  void remove(Tenant tenant, boolean seen) {
    WeightGroup group = tenant.group;
    reserve -= group.reserve();
    group.remove(tenant, seen);
    reserve += group.reserve();
    weight -= group.weight.value();
    count--;
    if (group.count() == 0) {
      groups.remove(group);
    }
  }

  void use(Tenant tenant, long amount) {
    WeightGroup group = tenant.group;
    reserve -= group.reserve();
    group.use(tenant, amount);
    reserve += group.reserve();
  }

  /** Begins the next window. Tenants that were not seen in the last one are not active any more. */
  void roll() {
    groups.removeIf(group -> {
      group.roll();
      return group.count() == 0;
    });
    weight = 0;
    count = 0;
    reserve = 0;
    for (WeightGroup group : groups) {
      weight += group.count() * group.weight.value();
      count += group.count();
      reserve += group.reserve();
    }
  }

  /** Removes all tenants. */
  void clear() {
    groups.clear();
    weight = 0;
    count = 0;
    reserve = 0;
    oldest = null;
    newest = null;
  }

  /** Returns the tenant that is forgotten next; null if there is none. */
  @Nullable Tenant oldest() {
    return oldest;
  }

  /** Returns how many nodes of trees and groups a decision visits at most. */
  int steps() {
    int steps = 0;
    for (WeightGroup group : groups) {
      steps += 1 + group.depth();
    }
    return steps;
  }

  /** Puts a tenant at the end of the order. */
  void append(Tenant tenant) {
    tenant.before = newest;
    tenant.after = null;
    if (newest == null) {
      oldest = tenant;
    } else {
      newest.after = tenant;
    }
    newest = tenant;
  }

  /** Takes a tenant out of the order. */
  void unlink(Tenant tenant) {
    Tenant before = tenant.before;
    Tenant after = tenant.after;
    if (before == null) {
      oldest = after;
    } else {
      before.after = after;
    }
    if (after == null) {
      newest = before;
    } else {
      after.before = before;
    }
  }
}
