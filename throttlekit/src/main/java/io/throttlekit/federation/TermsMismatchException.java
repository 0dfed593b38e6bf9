package io.throttlekit.federation;

import io.throttlekit.store.Terms;

/** Two regions have different terms for the same descriptor, so they cannot share its budgets. */
public final class TermsMismatchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates a message with both regions and their terms.
   *
   * @param leased the other region's terms in effect
   * @param requested the terms of its last request, possibly the same
   */
  public TermsMismatchException(
      String region, Terms terms, String otherRegion, Terms leased, Terms requested) {
    super(
        ("region %s has a budget of %s, but region %s leased from one of %s%s: give all regions the"
                + " same policies; a new limit takes effect once every region has leased under it,"
                + " or the old one's windows have ended")
            .formatted(
                region,
                terms.inWords(),
                otherRegion,
                leased.inWords(),
                requested.equals(leased)
                    ? ""
                    : " and requested one of " + requested.inWords() + " last"),
        null,
        false,
        false);
  }
}
