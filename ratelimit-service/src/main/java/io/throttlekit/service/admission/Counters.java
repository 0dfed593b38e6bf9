package io.throttlekit.service.admission;

import io.throttlekit.Charge;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts the charges of rules. Implementations are thread-safe and never block. */
public sealed interface Counters permits MemoryCounters, TieredCounters {

  /** Returns whether {@link #decide(Rule, Charge)} can decide charges of {@code rule}. */
  boolean mayKnow(Rule rule);

  /**
   * Decides and counts a request with a single charge from memory: the path of nearly every
   * request.
   *
   * @param rule one that memory {@link #mayKnow may know}
   * @return null if memory cannot decide; nothing is counted then, and the other {@code decide} is
   *     to be called
   */
  @Nullable Decision decide(Rule rule, Charge charge);

  /** Returns what makes the decisions of {@link #decide(Rule, Charge)} for a rule. */
  DecidedBy decidedBy(Rule rule);

  /**
   * Decides and counts the claims of one request atomically.
   *
   * @param claims at least one
   * @return null if {@code later} receives the outcome, or has already
   */
  @Nullable TieredOutcome decide(List<RuleClaim> claims, Tiers.Later later);
}
