package io.throttlekit.bench.chaos;

import io.throttlekit.bench.chaos.fault.Fault;

/**
 * A fault that has ended.
 *
 * @param beganMillis time since the start of the round
 * @param lastedMillis time until it had ended, and restarted processes served
 * @param failed requests that failed until the next fault of its lane
 * @param recoveryMillis time from its end to the last failed request before the next one; from its
 *     beginning where it ends by itself
 * @param lost units that processes counted as lost until the next fault of machines
 * @param extent description of how much of it took place; empty where all of it did
 */
record FaultResult(
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
