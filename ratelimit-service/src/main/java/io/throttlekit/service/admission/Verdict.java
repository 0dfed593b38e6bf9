package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.tier.DecidedBy;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one descriptor of a request.
 *
 * @param refused whether it is reported as over its limit; never for a rule in shadow mode
 * @param role how a refusal affects the request
 * @param rule the rule that matched; absent if none did or if another rule of the request replaces
 *     it
 * @param limit the limit that is reported: of several the one that refused, otherwise the one with
 *     the smallest remaining fraction; absent if nothing was charged, and for a concurrency limit
 * @param decision of the counter of {@code limit}, or of a concurrency limit; absent if there was
 *     none
 * @param decidedBy what made that decision
 */
public record Verdict(
    boolean refused,
    Role role,
    @Nullable Rule rule,
    @Nullable Limit limit,
    @Nullable Decision decision,
    DecidedBy decidedBy) {

  /** The verdict on a descriptor that nothing limits. */
  public static final Verdict UNTOUCHED =
      new Verdict(false, Role.ENFORCED, null, null, null, DecidedBy.NONE);

  /** The verdict on a descriptor of a domain without policies; nothing limits it either. */
  static final Verdict OF_UNKNOWN_DOMAIN =
      new Verdict(false, Role.ENFORCED, null, null, null, DecidedBy.NONE);

  /** Returns whether the request named a domain without policies. */
  @SuppressWarnings("ReferenceEquality") // the two verdicts differ in nothing else
  public boolean isOfUnknownDomain() {
    return this == OF_UNKNOWN_DOMAIN;
  }

  /** Returns the verdict on a descriptor that matched a rule without a limit. */
  static Verdict unlimited(Rule rule) {
    return new Verdict(false, Role.ENFORCED, rule, null, null, DecidedBy.NONE);
  }

  /** Returns the verdict that follows from a decision; no limit if a concurrency limit decided. */
  static Verdict of(Role role, Rule rule, @Nullable Limit limit, Decision decision, DecidedBy by) {
    boolean refused = !decision.admitted() && role != Role.SHADOW;
    return new Verdict(refused, role, rule, limit, decision, by);
  }

  /** Converts milliseconds to whole seconds for messages and headers, rounded up. */
  public static long secondsCeil(long millis) {
    return Math.ceilDiv(millis, 1_000);
  }

  /**
   * Returns the limit as reported: the policy's number, or that of the decision for a concurrency
   * limit and for a tenant, whose limit is its guarantee or what it may borrow now.
   */
  public long requestsPerUnit() {
    Limit of = limit;
    Decision decided = decision;
    if (of != null && (of.division() == null || decided == null)) {
      return of.requestsPerUnit();
    }
    return decided == null ? 0 : decided.limit();
  }

  /** Returns the seconds until the counter is full again; 0 without a decision. */
  public long secondsUntilReset() {
    return decision == null ? 0 : secondsCeil(decision.resetAfterMillis());
  }

  /**
   * Returns the units left as reported to the caller, at least 0; 0 if a rule in shadow mode let an
   * excess pass.
   */
  public long remaining() {
    Decision decided = decision;
    if (decided == null || (!decided.admitted() && role == Role.SHADOW)) {
      return 0;
    }
    return Math.max(0, decided.remaining());
  }
}
