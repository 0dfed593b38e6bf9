package io.throttlekit.federation;

import io.throttlekit.store.Terms;

/** Two regions have different budgets for one descriptor, so there is none that they share. */
public final class TermsMismatchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Names both, and what each says.
   *
   * @param leased what the other region leases by
   * @param asked what it asked for last, which may be the same
   */
  public TermsMismatchException(
      String region, Terms terms, String otherRegion, Terms leased, Terms asked) {
    super(
        ("region %s has a budget of %s, but region %s leased from one of %s%s: give all regions the"
                + " same policies; what one leased from is replaced when every region has asked for"
                + " another, and forgotten when its windows have ended")
            .formatted(
                region,
                terms.inWords(),
                otherRegion,
                leased.inWords(),
                asked.equals(leased) ? "" : " and asked for one of " + asked.inWords() + " last"),
        null,
        false,
        false);
  }
}
