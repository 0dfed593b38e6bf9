package io.throttlekit.tier;

import io.throttlekit.store.StoreException;
import io.throttlekit.tier.LeaseWaiter.End;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of the leases that one request waited for, from one source: the region's store or
 * the global coordinator. They are kept apart because one may answer while the other does not. Not
 * thread-safe.
 */
final class AwaitedLeases {
  private boolean fail;
  private @Nullable StoreException failure;
  private int late;

  void ended(End end) {
    fail |= end == End.FAILED;
    late += end == End.LATE ? 1 : 0;
  }

  /** Records the cause of a failed lease, where it is known. */
  void failedBy(@Nullable StoreException why) {
    failure = why != null ? why : failure;
  }

  /** Counts the leases that are still open as failed: the wait timeout has expired. */
  void giveUp() {
    fail = true;
  }

  /** Returns whether a lease failed or timed out. */
  boolean fail() {
    return fail;
  }

  @Nullable StoreException failure() {
    return failure;
  }

  /** Returns how many leases arrived after their window had ended. */
  int late() {
    return late;
  }
}
