package io.throttlekit.share;

/**
 * A node's last message in an incarnation. It may also follow the end of the lease, when another
 * incarnation has the requests of this one: then it releases what is still reserved.
 *
 * @param inFlight requests that are still in flight, from 0; reserved until they have ended by
 *     their time to live, and the lease has ended
 */
public record Departure(String key, String node, long incarnation, int inFlight) {
  /** Clamps the number. */
  public Departure {
    inFlight = Math.clamp(inFlight, 0, Heartbeat.MAX_REQUESTS);
  }
}
