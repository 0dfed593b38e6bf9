package io.throttlekit.concurrency;

/**
 * A full ceiling as it rises: while latency hardly rises with it, nobody waits, whatever is held
 * for the backend's own latency. (By Little's law, as much more comes through as is let in.) Called
 * by one thread at a time.
 */
final class Ascent {
  /** What a ceiling must have risen by for latency to tell. */
  private static final double NOTICEABLE = 1.25;

  /** What part of the rise latency follows at most while nobody waits; all of it behind a queue. */
  private static final double FOLLOWS = 0.4;

  private double ceiling;
  private double median;

  /**
   * Learns from a window whose ceiling was full.
   *
   * @param obeyed the ceiling its requests began below
   * @param latency its median, in ns
   * @return a latency in ns that was seen without a queue, or 0
   */
  double learn(double obeyed, double latency) {
    boolean risen = ceiling > 0 && obeyed >= NOTICEABLE * ceiling;
    if (ceiling > 0 && obeyed >= ceiling && !risen) {
      median = (median + latency) / 2; // the shortest of noise would be too short
      return 0;
    }
    boolean nobodyWaits = risen && latency < median * (1 + FOLLOWS * (obeyed / ceiling - 1));
    double seen = nobodyWaits ? Math.min(latency, median) : 0;
    ceiling = obeyed;
    median = latency;
    return seen;
  }

  /** Begins anew: what follows is no rise of what was. */
  void forget() {
    ceiling = 0;
  }
}
