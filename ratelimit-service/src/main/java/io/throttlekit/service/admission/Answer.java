package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.service.concurrency.RequestPermit;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.RequestWait;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a request.
 *
 * @param admitted whether the request may pass
 * @param verdicts one per descriptor, in order; owned, not copied
 * @param quotaPasses whether a descriptor in quota mode passes regardless of its counter, so that
 *     no other one in quota mode can refuse
 * @param permit the permit of an admitted request; null if nothing counts it
 */
public record Answer(
    boolean admitted, List<Verdict> verdicts, boolean quotaPasses, @Nullable RequestPermit permit) {

  /** Creates an answer where all rules depend on their counters, without a permit. */
  public Answer(boolean admitted, List<Verdict> verdicts) {
    this(admitted, verdicts, false, null);
  }

  /** Returns this answer, which must admit, with a permit. */
  Answer with(@Nullable RequestPermit held) {
    return held == null ? this : new Answer(admitted, verdicts, quotaPasses, held);
  }

  /**
   * Returns the verdict that explains a refusal, see {@link #reported}; null if the request is
   * admitted.
   */
  public @Nullable Verdict refusing() {
    return admitted ? null : reported();
  }

  /**
   * Returns the verdict that traces, messages and the body of a refusal report: the first enforced
   * one that refuses; else, of a refused request, the first refused one in quota mode; else the
   * first with the least remaining. Null without a decision.
   */
  public @Nullable Verdict reported() {
    return reported(false);
  }

  /**
   * Returns the verdict that the headers of one limit report, as envoyproxy/ratelimit does: the
   * last enforced one that refuses, else the first with the least remaining. Null without a
   * decision.
   */
  public @Nullable Verdict reportedByHeaders() {
    return reported(true);
  }

  private @Nullable Verdict reported(boolean byHeaders) {
    Verdict refusing = null;
    Verdict quota = null;
    Verdict least = null;
    for (Verdict verdict : verdicts) {
      if (verdict.decision() == null) { // nothing to report
        continue;
      }
      if (verdict.refused() && verdict.role() == Role.ENFORCED) {
        // Headers show the last refusal, as those of envoyproxy/ratelimit; the rest the first.
        refusing = refusing == null || byHeaders ? verdict : refusing;
      } else if (verdict.refused() && quota == null) {
        quota = verdict;
      }
      // Strictly less: of equal ones the first, as envoyproxy/ratelimit.
      least = least == null || verdict.remaining() < least.remaining() ? verdict : least;
    }
    if (refusing != null) {
      return refusing;
    }
    return quota != null && !admitted && !byHeaders ? quota : least;
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
    RequestWait wait = new RequestWait();
    if (quotaPasses) {
      wait.quotaPasses();
    }
    for (Verdict verdict : verdicts) {
      Decision decision = verdict.decision();
      if (decision != null) {
        wait.add(verdict.role(), verdict.refused(), decision.retryAfterMillis());
      }
    }
    return wait.millis();
  }
}
