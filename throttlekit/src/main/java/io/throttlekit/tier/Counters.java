package io.throttlekit.tier;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Charge;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides and counts charges. Implementations are thread-safe and never block. */
public interface Counters {
  /**
   * Decides and counts a request with a single charge from memory: the path of nearly every
   * request.
   *
   * @param tier the way the charge is decided
   * @param onDataLoss effect of a loss of the store's counters
   * @return null if memory cannot decide; {@link #acquireAfterMiss} is to be called then
   */
  @Nullable Decision tryAcquire(Charge charge, Tier tier, DataLoss onDataLoss);

  /** Returns the source of the decisions of {@link #tryAcquire} on charges of {@code tier}. */
  DecidedBy decidedBy(Tier tier);

  /**
   * Decides a claim with one charge after {@link #tryAcquire} returned null for it, without trying
   * its units again before more are leased. Also for a charge that is not leased.
   *
   * @return the outcome; null when {@code callback} is notified instead, possibly before this
   *     returns
   */
  @Nullable TieredOutcome acquireAfterMiss(TieredClaim claim, OutcomeCallback callback);

  /**
   * Decides and counts the claims of one request together.
   *
   * @param claims at least one
   * @return the outcome; null when {@code callback} is notified instead, possibly before this
   *     returns
   */
  @Nullable TieredOutcome acquire(List<TieredClaim> claims, OutcomeCallback callback);
}
