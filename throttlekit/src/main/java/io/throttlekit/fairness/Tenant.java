package io.throttlekit.fairness;

import io.throttlekit.CounterKey;
import org.jspecify.annotations.Nullable;

/** One tenant, and its place in the order of its class. Guarded by the pool's lock. */
final class Tenant {
  final CounterKey key;
  final long lowHash;
  final long highHash;
  final WeightGroup group;

  /** The last window in which it was seen. */
  long windowEndMillis;

  /** Parts charged in that window. */
  long used;

  /** Used, as its group's tree has it. */
  long indexed;

  /** Whether its group has listed it as changed in this window. */
  boolean isChanged;

  /** Its place in the order, if that is kept in a store. */
  long place;

  @Nullable Tenant before;
  @Nullable Tenant after;

  Tenant(CounterKey key, WeightGroup group, long windowEndMillis) {
    this.key = key;
    this.lowHash = key.lowHash();
    this.highHash = key.highHash();
    this.group = group;
    this.windowEndMillis = windowEndMillis;
  }

  @SuppressWarnings("ReferenceEquality") // almost always the same rule, and its weights
  boolean hasWeight(TenantWeight weight) {
    return group.weight == weight || group.weight.equals(weight);
  }
}
