package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtService;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Gate;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a concurrency limit ranks requests.
 *
 * @param priorityEntry key of the entry that names a request's priority
 * @param userEntry key of the entry that names its user, whose recent usage determines the level
 *     within the priority; null for random levels
 * @param prioritizer name of the prioritizer, which all limits of the domain that name it share;
 *     null for one of the limit's own
 */
record PriorityTerms(
    String priorityEntry, @Nullable String userEntry, @Nullable String prioritizer) {

  /** Returns whether one prioritizer serves both terms; null means none. */
  static boolean sameRanks(@Nullable PriorityTerms one, @Nullable PriorityTerms other) {
    if (one == null || other == null) {
      return one == null && other == null;
    }
    // a prioritizer tracks usage or does not; which entry names the user does not matter to it
    boolean bothTrack = (one.userEntry == null) == (other.userEntry == null);
    return bothTrack && Objects.equals(one.prioritizer, other.prioritizer);
  }

  /** Returns the terms of a gate, or null if all requests have the same priority. */
  static @Nullable PriorityTerms of(Gate gate) {
    return gate instanceof AtService at && at.priorityEntry() != null
        ? new PriorityTerms(at.priorityEntry(), at.userEntry(), at.prioritizer())
        : null;
  }
}
