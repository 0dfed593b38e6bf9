package io.throttlekit.bench.chaos;

/**
 * A fault that is over.
 *
 * @param beganMillis since the round began
 * @param lastedMillis until it had ended, and what had to be started again served
 * @param failed requests that failed until the next fault of its lane
 * @param recoveryMillis from its end to the last request that failed before the next one; from its
 *     beginning where it ends by itself
 * @param lost units that processes counted as lost until the next fault of machines
 * @param extent how much of it took place, in words; empty where all of it did
 */
record Happened(
    Fault fault,
    long beganMillis,
    long lastedMillis,
    long failed,
    long recoveryMillis,
    long lost,
    String extent) {

  @Override
  public String toString() {
    return "%6.1f s  %-55s %5.1f s, %d failed, recovered after %.2f s%s%s"
        .formatted(
            beganMillis / 1e3,
            fault,
            lastedMillis / 1e3,
            failed,
            recoveryMillis / 1e3,
            lost == 0 ? "" : ", " + lost + " units lost",
            extent.isEmpty() ? "" : ", " + extent);
  }
}
