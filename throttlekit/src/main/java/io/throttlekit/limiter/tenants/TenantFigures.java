package io.throttlekit.limiter.tenants;

/**
 * A snapshot of a tenant, or what it would be if it sent a request now.
 *
 * @param part permits that the tenant is sure of, from 0
 * @param inFlight requests in flight; above the part if permits are borrowed, or the part has
 *     become smaller
 * @param waiting requests that wait
 * @param free permits that the tenant could have now in addition: the rest of its part, or, from
 *     there on, what is reserved for none
 */
public record TenantFigures(int part, int inFlight, int waiting, int free) {

  /** Returns the most requests that the tenant may have in flight now. */
  public int limit() {
    return Math.max(part, inFlight + free);
  }

  /** Returns whether one more request is within the part, with those that wait. */
  public boolean isWithinPart() {
    return inFlight + waiting < part;
  }
}
