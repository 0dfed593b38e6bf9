package io.throttlekit.federation;

/**
 * How a process takes part in a federation.
 *
 * @param region whose process this is; every other region has another name
 * @param node no other process of the region has it, and none had it before
 * @param regionalLeases units leased from the coordinator at once, in leases of a process: those
 *     beyond its own wait in the region's escrow for its other processes; from 1
 * @param waitMillis for an answer of the coordinator, until another way is taken; the answer still
 *     counts when it comes; from 1
 * @param probeEveryMillis how often a coordinator that did not answer is asked whether it does
 *     again, by rules that leave it alone meanwhile, in ms, from 1
 */
public record FederationSettings(
    String region, String node, int regionalLeases, long waitMillis, long probeEveryMillis) {
  /** So long an answer of the coordinator is waited for where nothing else is configured, in ms. */
  public static final long WAIT_MILLIS = 2_000;

  /** Settings with a wait of {@link #WAIT_MILLIS}. */
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
          "regionalLeases, waitMillis and probeEveryMillis must be at least 1, were "
              + regionalLeases
              + ", "
              + waitMillis
              + " and "
              + probeEveryMillis);
    }
  }
}
