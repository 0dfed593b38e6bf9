package io.throttlekit.tier;

import io.throttlekit.store.StoreException;
import io.throttlekit.tier.LeaseWaiter.End;
import org.jspecify.annotations.Nullable;

/**
 * How leases ended that a request waited for: those of the store, or those of what all regions
 * share, for the one may well answer while the other does not. Not thread-safe.
 */
final class AwaitedLeases {
  private boolean fail;
  private @Nullable StoreException failure;
  private int late;

  void ended(End end) {
    fail |= end == End.FAILED;
    late += end == End.LATE ? 1 : 0;
  }

  /** Why one did not come, where anybody said so. */
  void failedBy(@Nullable StoreException why) {
    failure = why != null ? why : failure;
  }

  /** Nobody waits for them any more. */
  void giveUp() {
    fail = true;
  }

  /** Whether one did not come. */
  boolean fail() {
    return fail;
  }

  @Nullable StoreException failure() {
    return failure;
  }

  /** How many belonged to a window that was over when they came. */
  int late() {
    return late;
  }
}
