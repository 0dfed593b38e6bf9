package io.throttlekit.service.admission;

import io.throttlekit.Claim.Role;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.Limit;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.tier.DecidedBy;
import org.jspecify.annotations.Nullable;

/**
 * What one descriptor of a request gets.
 *
 * @param refused whether it is told to be over its limit; never for a rule in shadow mode
 * @param role what its refusal means for the request
 * @param rule what matched; absent when nothing did and when another rule of the request replaces
 *     it
 * @param limit the limit that tells most: of several the one that refused, else the one with the
 *     smallest remaining fraction; absent when nothing was charged, and for a ceiling
 * @param decision of that limit's counter, or of a ceiling; absent when there was none
 * @param decidedBy who made that decision
 */
public record Verdict(
    boolean refused,
    Role role,
    @Nullable Rule rule,
    @Nullable Limit limit,
    @Nullable Decision decision,
    DecidedBy decidedBy) {

  /** Nothing limits the descriptor. */
  public static final Verdict UNTOUCHED =
      new Verdict(false, Role.ENFORCED, null, null, null, DecidedBy.NOBODY);

  /** The descriptor matched a rule without a limit. */
  static Verdict unlimited(Rule rule) {
    return new Verdict(false, Role.ENFORCED, rule, null, null, DecidedBy.NOBODY);
  }

  /** The counter of {@code limit} decided. */
  static Verdict of(Role role, Rule rule, Limit limit, Decision decision, DecidedBy by) {
    boolean refused = !decision.admitted() && role != Role.SHADOW;
    return new Verdict(refused, role, rule, limit, decision, by);
  }

  /** A ceiling decided. */
  static Verdict ofCeiling(Role role, Rule rule, Decision decision) {
    boolean refused = !decision.admitted() && role != Role.SHADOW;
    return new Verdict(refused, role, rule, null, decision, DecidedBy.MEMORY);
  }

  /**
   * Units left as the caller is told, at least 0: none where a rule in shadow mode let pass what
   * was too much.
   */
  public long remaining() {
    Decision decided = decision;
    if (decided == null || (!decided.admitted() && role == Role.SHADOW)) {
      return 0;
    }
    return Math.max(0, decided.remaining());
  }
}
