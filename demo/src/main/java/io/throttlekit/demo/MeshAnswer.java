package io.throttlekit.demo;

/**
 * The response that a client received from the Envoy of a region.
 *
 * @param region index in {@link MeshScenario#REGIONS}
 * @param earliestMicros earliest time of the request, on the coordinator's clock
 * @param latestMicros latest time of the response, on the coordinator's clock
 * @param resetSeconds until the end of its window, as reported in the response, in whole seconds;
 *     below 0 if it was not reported
 */
record MeshAnswer(
    int region, Answer answer, long earliestMicros, long latestMicros, long resetSeconds) {
  static final long UNDECIDED = -1;
  private static final long MICROS_PER_MILLI = 1_000;
  private static final long MICROS_PER_SECOND = 1_000_000;

  /**
   * Returns the window in which the request was decided, numbered from the epoch. If the request
   * spans several windows, it is the one whose end matches the response.
   *
   * @return {@link #UNDECIDED} if no window or more than one matches
   */
  long window(long windowMillis) {
    long length = windowMillis * MICROS_PER_MILLI;
    long first = Math.floorDiv(earliestMicros, length);
    long last = Math.floorDiv(latestMicros, length);
    if (first == last) {
      return first;
    }
    long decidedIn = UNDECIDED;
    for (long window = first; window <= last; window++) {
      if (mayEndAt((window + 1) * length)) {
        if (decidedIn != UNDECIDED) {
          return UNDECIDED;
        }
        decidedIn = window;
      }
    }
    return decidedIn;
  }

  private boolean mayEndAt(long endMicros) {
    return resetSeconds >= 0
        && endMicros >= earliestMicros + (resetSeconds - 1) * MICROS_PER_SECOND
        && endMicros <= latestMicros + (resetSeconds + 1) * MICROS_PER_SECOND;
  }
}
