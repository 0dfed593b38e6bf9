package io.throttlekit.share;

/**
 * A node's last message in an incarnation.
 *
 * @param inFlight requests that are still in flight, from 0; reserved until the lease ends
 */
public record Departure(String key, String node, long incarnation, int inFlight) {
  /** Clamps the number. */
  public Departure {
    inFlight = Math.clamp(inFlight, 0, Heartbeat.MAX_REQUESTS);
  }
}
