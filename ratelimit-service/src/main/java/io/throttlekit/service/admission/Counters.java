package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Charge;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts the charges of rules. Implementations are thread-safe and never block. */
public sealed interface Counters permits MemoryCounters, TieredCounters {
  /**
   * Decides and counts a request with a single charge from memory: the path of nearly every
   * request.
   *
   * @return null if memory cannot decide; {@link #acquireAfterMiss} is to be called then
   */
  @Nullable Decision tryAcquire(Rule rule, Charge charge);

  /** Returns the source of the decisions of {@link #tryAcquire} for a rule. */
  DecidedBy decidedBy(Rule rule);

  /** Returns the way the charges of a rule are decided. */
  Tier tierOf(Rule rule);

  /**
   * Decides the charge for which {@link #tryAcquire} returned null.
   *
   * @return null if {@code callback} receives the outcome, or has already
   */
  @Nullable TieredOutcome acquireAfterMiss(TieredClaim claim, OutcomeCallback callback);

  /**
   * Decides and counts the claims of one request atomically.
   *
   * @param claims at least one
   * @return null if {@code callback} receives the outcome, or has already
   */
  @Nullable TieredOutcome acquire(List<TieredClaim> claims, OutcomeCallback callback);
}
