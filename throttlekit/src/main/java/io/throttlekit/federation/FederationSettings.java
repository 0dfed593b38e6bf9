package io.throttlekit.federation;

/**
 * Settings of a process in a federation.
 *
 * @param region name of the process's region, unique among regions
 * @param node name of the process, unique in the region and never reused
 * @param regionalLeases how many leases of a process are leased from the coordinator at once: those
 *     beyond its own go into the region's escrow for other processes; from 1
 * @param waitMillis wait for an answer of the coordinator before the outage policy decides; a later
 *     answer still counts; from 1
 * @param probeEveryMillis interval of probes to a coordinator that does not answer, for rules that
 *     send it nothing else, in ms, from 1
 */
public record FederationSettings(
    String region, String node, int regionalLeases, long waitMillis, long probeEveryMillis) {
  /** The default wait for an answer of the coordinator, in ms. */
  public static final long WAIT_MILLIS = 2_000;

  /** Creates settings with a wait of {@link #WAIT_MILLIS}. */
  public FederationSettings(String region, String node, int regionalLeases, long probeEveryMillis) {
    this(region, node, regionalLeases, WAIT_MILLIS, probeEveryMillis);
  }

  /** Checks the ranges. */
  public FederationSettings {
    if (region.isEmpty() || node.isEmpty()) {
      throw new IllegalArgumentException("a region and a node need names");
    }
    if (regionalLeases < 1 || waitMillis < 1 || probeEveryMillis < 1) {
      throw new IllegalArgumentException(
          "regionalLeases, waitMillis and probeEveryMillis must be at least 1, were %d, %d and %d"
              .formatted(regionalLeases, waitMillis, probeEveryMillis));
    }
  }
}
