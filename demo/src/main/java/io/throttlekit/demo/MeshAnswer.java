package io.throttlekit.demo;

/**
 * An answer that a client got from the Envoy of a region.
 *
 * @param region by its place in {@link MeshScenario#REGIONS}
 * @param earliestMicros on the coordinator's clock the request was not sent before this
 * @param latestMicros and was answered no later than this
 * @param resetSeconds until its window ends, as the answer said, rounded to whole seconds; less
 *     than 0 when it did not say
 */
record MeshAnswer(
    int region, Answer answer, long earliestMicros, long latestMicros, long resetSeconds) {
  static final long UNDECIDED = -1;
  private static final long MICROS_PER_MILLI = 1_000;
  private static final long MICROS_PER_SECOND = 1_000_000;

  /**
   * The window that the request was decided in, numbered from the epoch: the one that lasted from
   * the request to its answer, or else, of those that did, the one whose end the answer tells.
   *
   * @return {@link #UNDECIDED} when nobody can say
   */
  long window(long windowMillis) {
    long length = windowMillis * MICROS_PER_MILLI;
    long first = Math.floorDiv(earliestMicros, length);
    long last = Math.floorDiv(latestMicros, length);
    if (first == last) {
      return first;
    }
    long told = UNDECIDED;
    for (long window = first; window <= last; window++) {
      if (mayEndAt((window + 1) * length)) {
        if (told != UNDECIDED) {
          return UNDECIDED;
        }
        told = window;
      }
    }
    return told;
  }

  private boolean mayEndAt(long endMicros) {
    return resetSeconds >= 0
        && endMicros >= earliestMicros + (resetSeconds - 1) * MICROS_PER_SECOND
        && endMicros <= latestMicros + (resetSeconds + 1) * MICROS_PER_SECOND;
  }
}
