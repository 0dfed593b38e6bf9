package io.throttlekit.envoy.ceiling;

import java.time.Duration;

/**
 * How Envoys are told their ceilings.
 *
 * @param resource the name of the runtime resource, as in an Envoy's {@code rtds_layer}
 * @param maxStreams streams at most, from 1; an Envoy has one, and two for a moment when it comes
 *     back
 * @param lease how long the share of an Envoy that left stays reserved, from 1 ms: as long as a
 *     request may take, at least
 * @param turn how long an Envoy keeps its slot while there are fewer slots than Envoys, from 1 ms
 * @param pause how long what Envoys send is gathered before shares are divided anew, from 0; of
 *     each stream a few messages are read in that time and no more
 */
public record CeilingSettings(
    String resource, int maxStreams, Duration lease, Duration turn, Duration pause) {

  /** As the example bootstrap expects it. */
  public static final CeilingSettings DEFAULT =
      new CeilingSettings(
          "ceiling", 1000, Duration.ofSeconds(15), Duration.ofSeconds(1), Duration.ofMillis(20));

  /** The same for another number of streams. */
  public CeilingSettings withMaxStreams(int streams) {
    return new CeilingSettings(resource, streams, lease, turn, pause);
  }

  /**
   * @throws IllegalArgumentException when a value is out of range
   */
  public CeilingSettings {
    if (resource.isEmpty()
        || maxStreams < 1
        || lease.toMillis() < 1
        || turn.toMillis() < 1
        || pause.isNegative()) {
      throw new IllegalArgumentException(
          "ceilings need a resource name, a stream, and a lease and a turn of 1 ms at least");
    }
  }
}
