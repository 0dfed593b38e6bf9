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
    int index = reportedIndex();
    return index < 0 ? null : verdicts.get(index);
  }

  /** Returns the index of {@link #reported} and of its descriptor; −1 without a decision. */
  public int reportedIndex() {
    return reported(false);
  }

  /**
   * Returns the verdict that the headers of one limit report, as envoyproxy/ratelimit does: the
   * last enforced one that refuses, else the first with the least remaining. Null without a
   * decision.
   */
  public @Nullable Verdict reportedByHeaders() {
    int index = reported(true);
    return index < 0 ? null : verdicts.get(index);
  }

  private int reported(boolean byHeaders) {
    int refusing = -1;
    int quota = -1;
    int least = -1;
    for (int i = 0; i < verdicts.size(); i++) {
      Verdict verdict = verdicts.get(i);
      if (verdict.decision() == null) { // nothing to report
        continue;
      }
      if (verdict.refused() && verdict.role() == Role.ENFORCED) {
        // Headers show the last refusal, as those of envoyproxy/ratelimit; the rest the first.
        refusing = refusing < 0 || byHeaders ? i : refusing;
      } else if (verdict.refused() && quota < 0) {
        quota = i;
      }
      // Strictly less: of equal ones the first, as envoyproxy/ratelimit.
      least = least < 0 || verdict.remaining() < verdicts.get(least).remaining() ? i : least;
    }
    if (refusing >= 0) {
      return refusing;
    }
    return quota >= 0 && !admitted && !byHeaders ? quota : least;
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
