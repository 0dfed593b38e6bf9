package io.throttlekit.envoy.xds;

import java.time.Duration;

/**
 * Settings of the distribution of limits to Envoys, the same on all replicas.
 *
 * @param resource the name of the runtime resource, as in an Envoy's {@code rtds_layer}
 * @param maxStreams maximum number of streams of a replica, from 1; an Envoy has one, and two for a
 *     moment when it reconnects
 * @param lease time for which the share of an Envoy without a stream on any replica stays reserved,
 *     from 1 ms: at least as long as a request may take, and as an Envoy takes to connect again
 * @param turn time for which an Envoy keeps its slot while there are fewer slots than Envoys, from
 *     1 ms
 * @param pause time for which messages of Envoys are gathered before they are reported, from 0; of
 *     each stream only a few messages are read in that time
 */
public record LimitServerSettings(
    String resource, int maxStreams, Duration lease, Duration turn, Duration pause) {

  /**
   * Defaults, which match the example bootstrap. The lease is Envoy's default route timeout, after
   * which the requests of a lost Envoy are over.
   */
  public static final LimitServerSettings DEFAULT =
      new LimitServerSettings(
          "concurrency_limits",
          1000,
          Duration.ofSeconds(15),
          Duration.ofSeconds(1),
          Duration.ofMillis(20));

  /** Returns the same with another number of streams. */
  public LimitServerSettings withMaxStreams(int streams) {
    return new LimitServerSettings(resource, streams, lease, turn, pause);
  }

  /**
   * @throws IllegalArgumentException when a value is out of range
   */
  public LimitServerSettings {
    if (resource.isEmpty()
        || maxStreams < 1
        || lease.toMillis() < 1
        || turn.toMillis() < 1
        || pause.isNegative()) {
      throw new IllegalArgumentException(
          "limits need a resource name, a stream, and a lease and a turn of 1 ms at least");
    }
  }
}
