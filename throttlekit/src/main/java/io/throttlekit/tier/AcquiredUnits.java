package io.throttlekit.tier;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;

/** The leased units that one request has taken, by charge. For one thread. */
final class AcquiredUnits {
  private final ClaimState standing;
  private final LeasedTier leases;
  private final @Nullable LeaseCell[] from;
  private final @Nullable AcquireResult[] takes;

  AcquiredUnits(ClaimState standing, LeasedTier leases) {
    this.standing = standing;
    this.leases = leases;
    this.from = new @Nullable LeaseCell[standing.size()];
    this.takes = new @Nullable AcquireResult[standing.size()];
  }

  void add(int charge, LeaseCell cell, AcquireResult take) {
    from[charge] = cell;
    takes[charge] = take;
  }

  /** Puts all units back. */
  void putBackAll() {
    putBack(0, standing.size());
  }

  /** Puts back the units of a claim. */
  void putBack(int claim) {
    putBack(standing.start(claim), standing.end(claim));
  }

  private void putBack(int first, int end) {
    for (int i = first; i < end; i++) {
      LeaseCell cell = from[i];
      AcquireResult take = takes[i];
      if (cell == null || take == null) {
        continue;
      }
      from[i] = null;
      // A refund (negative cost) took nothing.
      long cost = Math.max(0, standing.charge(i).cost());
      leases.putBack(cell, cost, take);
      Decision before = standing.decision(i);
      // The decision reported the units as spent; the client sees what is left after the return.
      if (before != null && before.admitted()) {
        long remaining = Math.min(before.limit(), before.remaining() + cost);
        Decision after = Decision.admit(before.limit(), remaining, before.resetAfterMillis());
        standing.decide(i, after, standing.decidedBy(i));
      }
    }
  }
}
