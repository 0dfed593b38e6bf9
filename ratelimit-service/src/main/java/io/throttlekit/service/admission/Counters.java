package io.throttlekit.service.admission;

import io.throttlekit.Charge;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the charges of rules are counted. Implementations are thread-safe and never block. */
public sealed interface Counters permits MemoryCounters, TieredCounters {

  /** Whether {@link #decide(Rule, Charge)} may have an answer for a charge of {@code rule}. */
  boolean mayKnow(Rule rule);

  /**
   * Decides and counts a request of one charge where memory knows the answer: the way of nearly
   * every request.
   *
   * @param rule one that memory {@link #mayKnow may know}
   * @return null when memory does not know; nothing is counted then, and the request is for {@link
   *     #decide(List, Tiers.Later)}
   */
  @Nullable Decision decide(Rule rule, Charge charge);

  /** Who makes the decisions of {@link #decide(Rule, Charge)} for a rule. */
  DecidedBy decidedBy(Rule rule);

  /**
   * Decides and counts the claims of one request as one.
   *
   * @param claims at least one
   * @return null when {@code later} will be told, or was told already
   */
  @Nullable TieredOutcome decide(List<RuleClaim> claims, Tiers.Later later);
}
