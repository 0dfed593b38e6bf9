package io.throttlekit.service.admission;

import io.throttlekit.Claim.Role;
import io.throttlekit.Decision;
import io.throttlekit.service.concurrency.Lease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a request gets.
 *
 * @param admitted whether the request may pass
 * @param verdicts one per descriptor, in order; owned, not copied
 * @param quotaPasses whether a descriptor in quota mode passes whatever its counter says, so that
 *     none of the others can refuse
 * @param lease what the request has in flight; only of one that is admitted, and null where nothing
 *     counts that
 */
public record Answer(
    boolean admitted, List<Verdict> verdicts, boolean quotaPasses, @Nullable Lease lease) {

  /** An answer where every quota depends on its counter. */
  public Answer(boolean admitted, List<Verdict> verdicts) {
    this(admitted, verdicts, false);
  }

  /** An answer to a request that has nothing in flight. */
  public Answer(boolean admitted, List<Verdict> verdicts, boolean quotaPasses) {
    this(admitted, verdicts, quotaPasses, null);
  }

  /** The same answer, which is to admit, to a request that has something in flight. */
  Answer with(@Nullable Lease held) {
    return held == null ? this : new Answer(admitted, verdicts, quotaPasses, held);
  }

  /**
   * What a refusal rests on: the first that refuses by itself, else the first in quota mode; null
   * when the request is admitted.
   */
  public @Nullable Verdict refusing() {
    if (admitted) {
      return null;
    }
    Verdict quota = null;
    for (Verdict verdict : verdicts) {
      if (verdict.refused() && verdict.role() == Role.ENFORCED) {
        return verdict;
      }
      if (verdict.refused() && quota == null) {
        quota = verdict;
      }
    }
    return quota;
  }

  /**
   * The shortest wait in ms after which the same request could be admitted if nobody else asked; 0
   * when it is admitted, {@link Decision#NEVER} when no waiting helps.
   *
   * <p>Every refusing rule must have room again, and of rules in quota mode any one.
   */
  public long retryAfterMillis() {
    if (admitted) {
      return 0;
    }
    long enforced = 0;
    long quota = Decision.NEVER;
    boolean anyQuota = false;
    boolean quotaPassed = quotaPasses;
    for (Verdict verdict : verdicts) {
      Decision decision = verdict.decision();
      if (decision == null) {
        continue;
      }
      if (verdict.role() == Role.QUOTA) {
        anyQuota = true;
        quotaPassed |= !verdict.refused();
        quota = Math.min(quota, decision.retryAfterMillis());
      } else if (verdict.refused()) {
        enforced = Math.max(enforced, decision.retryAfterMillis());
      }
    }
    return anyQuota && !quotaPassed ? Math.max(enforced, quota) : enforced;
  }
}
