package io.throttlekit.federation;

/** Two regions have different budgets for one descriptor, so there is none that they share. */
public final class TermsMismatchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Names both, and what each says. */
  public TermsMismatchException(
      String region, String terms, String otherRegion, String otherTerms) {
    super(
        ("region %s has a budget of %s, but region %s leased from one of %s: give both the same"
                + " policies; the older one is forgotten when its windows have ended")
            .formatted(region, terms, otherRegion, otherTerms),
        null,
        false,
        false);
  }
}
