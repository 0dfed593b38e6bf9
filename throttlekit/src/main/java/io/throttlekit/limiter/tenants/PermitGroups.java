package io.throttlekit.limiter.tenants;

import io.throttlekit.fairness.TenantWeight;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Groups that divide permits among them, in ascending order of weight. Guarded by their lock. */
final class PermitGroups<R> {
  private final List<PermitGroup<R>> groups = new ArrayList<>();

  void add(PermitGroup<R> group) {
    int at = 0;
    while (at < groups.size() && groups.get(at).weight.value() < group.weight.value()) {
      at++;
    }
    groups.add(at, group);
  }

  void remove(PermitGroup<R> group) {
    groups.remove(group);
  }

  boolean isEmpty() {
    return groups.isEmpty();
  }

  @Nullable PermitGroup<R> find(TenantWeight weight) {
    for (PermitGroup<R> group : groups) {
      if (group.weight.equals(weight)) {
        return group;
      }
    }
    return null;
  }

  /** Returns the sum of the weights of all tenants. */
  long weights() {
    long sum = 0;
    for (PermitGroup<R> group : groups) {
      sum += group.weights();
    }
    return sum;
  }

  /** Returns the sum of the parts of all tenants. */
  long parts() {
    long sum = 0;
    for (PermitGroup<R> group : groups) {
      sum += group.parts();
    }
    return sum;
  }

  /** Returns Σ max(0, part − in flight) over all tenants. */
  long reserve() {
    long sum = 0;
    for (PermitGroup<R> group : groups) {
      sum += group.reserve();
    }
    return sum;
  }

  long tenants() {
    long sum = 0;
    for (PermitGroup<R> group : groups) {
      sum += group.tenants();
    }
    return sum;
  }

  /** Returns the tenant below its part whose request has waited longest; null if there is none. */
  @Nullable Tenant<R> firstBelow() {
    Tenant<R> first = null;
    for (PermitGroup<R> group : groups) {
      Tenant<R> each = group.firstBelow();
      first = first == null || (each != null && each.first < first.first) ? each : first;
    }
    return first;
  }

  /**
   * Sets the parts: ⌊weight · permits / sum of weights⌋. If there is a permit for each tenant,
   * those with less than one get one, and the others divide the rest.
   */
  void divide(long permits) {
    long rest = permits;
    long weights = weights();
    boolean enough = tenants() <= permits;
    for (PermitGroup<R> group : groups) {
      // Unsigned: weights are at most 2^40, and permits fewer than 2^24.
      long product = group.weight.value() * rest;
      if (enough && Long.compareUnsigned(product, weights) < 0) {
        group.part(1);
        rest -= group.tenants(); // which leaves at least one for each of the others
        weights -= group.weights();
      } else {
        group.part((int) Long.divideUnsigned(product, weights));
      }
    }
  }
}
