package io.throttlekit.bench.chaos.traffic;

import java.util.Map;
import java.util.TreeMap;

/**
 * Outcomes of requests.
 *
 * @param sent requests that were sent
 * @param failures requests among them that ended with an error, by status
 * @param late requests among them that were answered after their caller's timeout
 * @param heldBack further requests, not sent because too many were waiting for the process
 * @param behind further requests that were due, and not sent because the load generator had not run
 *     in time
 * @param unanswered failures without any answer by a process that was running
 */
public record RequestFigures(
    long sent, Map<String, Long> failures, long late, long heldBack, long behind, long unanswered) {

  /** Sorts and copies the map. */
  public RequestFigures {
    failures = new TreeMap<>(failures);
  }

  /** Returns the number of requests by clients, including those that were held back. */
  public long requests() {
    return sent + heldBack;
  }

  /** Returns how many of these got no decision in time. */
  public long failed() {
    return failures.values().stream().mapToLong(Long::longValue).sum() + late + heldBack;
  }

  public double percentFailed() {
    return 100.0 * failed() / Math.max(1, requests());
  }

  /** Returns the failed requests by reason. */
  public Map<String, Long> reasons() {
    Map<String, Long> reasons = new TreeMap<>(failures);
    reasons.put("late", late);
    reasons.put("held back", heldBack);
    reasons.values().removeIf(count -> count == 0);
    return reasons;
  }
}
