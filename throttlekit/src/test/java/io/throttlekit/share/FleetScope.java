package io.throttlekit.share;

import io.throttlekit.share.Coordination.Allocation;
import java.util.Set;

/**
 * What a {@link FleetModel} explores.
 *
 * @param maxInFlight the bound of Σ in flight, which must never be exceeded
 * @param sameId whether all processes have one id
 */
record FleetScope(
    int processes,
    int limit,
    int maxInFlight,
    Allocation allocation,
    boolean acknowledged,
    boolean sameId,
    Network network,
    Faults faults,
    Set<Flaw> flaws) {

  /** A rule that processes do not follow. */
  enum Flaw {
    APPLIES_OLDER_SHARES,
    REPORTS_REQUESTS_OF_BEFORE,
    APPLIES_SHARES_OF_ENDED_LEASES,
    GOES_ON_AFTER_ITS_LEASE,
    REPORTS_NO_TIME_TO_LIVE,
    REPORTS_RELEASES_THAT_THE_PROCESS_HAS_SEEN
  }

  /**
   * Messages.
   *
   * @param beats heartbeats of a process in transit at a time; with 0 they arrive at once
   * @param answers answers to a process in transit at a time
   * @param duplicates heartbeats that arrive a second time
   */
  record Network(int beats, int answers, int duplicates) {}

  /**
   * What happens to processes.
   *
   * @param ticks of the clock; a lease takes {@link FleetModel#LEASE}
   * @param restarts processes that end with their requests, and begin anew
   * @param departures processes that leave the fleet
   * @param crashes processes that end while their requests go on for {@link FleetModel#PERMIT} at
   *     most
   */
  record Faults(int ticks, int restarts, int departures, int crashes) {}

  /** Processes whose heartbeats arrive at once, and whose answers are late or lost. */
  static FleetScope of(int processes, int limit, Allocation allocation) {
    return new FleetScope(
        processes,
        limit,
        limit,
        allocation,
        true,
        false,
        new Network(0, 1, 0),
        new Faults(0, 0, 0, 0),
        Set.of());
  }

  FleetScope with(Network other) {
    return new FleetScope(
        processes, limit, maxInFlight, allocation, acknowledged, sameId, other, faults, flaws);
  }

  FleetScope with(Faults other) {
    return new FleetScope(
        processes, limit, maxInFlight, allocation, acknowledged, sameId, network, other, flaws);
  }

  FleetScope with(Flaw flaw) {
    Set<Flaw> one = Set.of(flaw);
    return new FleetScope(
        processes, limit, maxInFlight, allocation, acknowledged, sameId, network, faults, one);
  }

  FleetScope withOneId() {
    return new FleetScope(
        processes, limit, maxInFlight, allocation, acknowledged, true, network, faults, flaws);
  }

  FleetScope unacknowledged(int most) {
    return new FleetScope(
        processes, limit, most, allocation, false, sameId, network, faults, flaws);
  }
}
