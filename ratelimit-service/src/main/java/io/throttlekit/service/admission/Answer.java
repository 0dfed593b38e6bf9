package io.throttlekit.service.admission;

import io.throttlekit.Claim.Role;
import io.throttlekit.Decision;
import io.throttlekit.service.concurrency.Lease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a request.
 *
 * @param admitted whether the request may pass
 * @param verdicts one per descriptor, in order; owned, not copied
 * @param quotaPasses whether a descriptor in quota mode passes regardless of its counter, so that
 *     no other one in quota mode can refuse
 * @param lease the slots in flight of an admitted request; null if nothing counts them
 */
public record Answer(
    boolean admitted, List<Verdict> verdicts, boolean quotaPasses, @Nullable Lease lease) {

  /** Creates an answer where every rule in quota mode depends on its counter. */
  public Answer(boolean admitted, List<Verdict> verdicts) {
    this(admitted, verdicts, false);
  }

  /** Creates an answer to a request that has nothing in flight. */
  public Answer(boolean admitted, List<Verdict> verdicts, boolean quotaPasses) {
    this(admitted, verdicts, quotaPasses, null);
  }

  /** Returns this answer, which must admit, with a lease. */
  Answer with(@Nullable Lease held) {
    return held == null ? this : new Answer(admitted, verdicts, quotaPasses, held);
  }

  /**
   * Returns the verdict that a refusal reports: the first enforced one that refuses, otherwise the
   * first in quota mode; null if the request is admitted.
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
   * Returns the shortest wait in ms after which the same request could be admitted if no others
   * arrive; 0 if it is admitted, {@link Decision#NEVER} if no wait suffices.
   *
   * <p>Every refusing enforced rule must have room again, and at least one rule in quota mode.
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
