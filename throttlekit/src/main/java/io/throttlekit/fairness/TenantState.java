package io.throttlekit.fairness;

/**
 * A tenant of a pool at one moment. Amounts are parts, see {@link FairTerms}.
 *
 * @param guarantee what it is sure of in this window while no other tenant joins or changes weight
 * @param used charged to it in this window
 * @param available the largest cost that would be admitted now
 * @param active whether it is one of those that have a reserve: it was seen in this window or in
 *     the one before
 */
public record TenantState(long guarantee, long used, long available, boolean active) {

  /** Returns what it has used beyond its guarantee. */
  public long borrowed() {
    return Math.max(0, used - guarantee);
  }
}
