package io.throttlekit.limit;

/** The limit that limiters apply, as far as this process knows. Not thread-safe. */
final class AppliedLimit {
  private int requests;
  private boolean acknowledges;

  /** Creates the limit that applies until the first change. */
  AppliedLimit(int initial) {
    this.requests = initial;
  }

  /** Records a limit that limiters acknowledged, summed over all. */
  void acknowledged(int limit) {
    acknowledges = true;
    requests = limit;
  }

  /** Records a published limit, which applies at once where limiters do not acknowledge limits. */
  void published(int limit) {
    if (!acknowledges) {
      requests = limit;
    }
  }

  /** Returns whether limiters have ever acknowledged a limit. */
  boolean acknowledges() {
    return acknowledges;
  }

  /** Returns the limit in requests. */
  int requests() {
    return requests;
  }
}
