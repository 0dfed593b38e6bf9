package io.throttlekit.bench.chaos;

import java.util.Map;
import java.util.TreeMap;

/**
 * What became of requests.
 *
 * @param sent those that were sent
 * @param failures those of them that ended with an error, by status
 * @param late those of them that were answered after their caller had left
 * @param heldBack more of them, which were not sent as too many were waiting for the process
 * @param behind more that were due, and not sent as the load generator had not run in time
 * @param unanswered failures that a process which was running did not answer at all
 */
record RequestFigures(
    long sent, Map<String, Long> failures, long late, long heldBack, long behind, long unanswered) {

  /** Sorts and copies the map. */
  RequestFigures {
    failures = new TreeMap<>(failures);
  }

  /** What clients asked for: those that were held back among them. */
  long requests() {
    return sent + heldBack;
  }

  /** Of these, those that got no decision in time. */
  long failed() {
    return failures.values().stream().mapToLong(Long::longValue).sum() + late + heldBack;
  }

  double percentFailed() {
    return 100.0 * failed() / Math.max(1, requests());
  }

  /** The failed ones by reason. */
  Map<String, Long> reasons() {
    Map<String, Long> reasons = new TreeMap<>(failures);
    reasons.put("late", late);
    reasons.put("held back", heldBack);
    reasons.values().removeIf(count -> count == 0);
    return reasons;
  }
}
