package io.throttlekit.service.http;

import java.time.Duration;

/**
 * Bounds of one listener; with them its memory has a bound, whatever its clients do.
 *
 * @param connections most open connections; one more closes the one that waits longest for its next
 *     request, or else the one whose answer takes longest
 * @param bodyBytes longest body of a request
 * @param heldBytes most bytes of bodies that have not been answered, and most bytes of replies that
 *     have not been sent, a shared reply counted once
 * @param requests most requests for one path in progress at once; more are answered 503
 * @param request what a request may take to arrive
 * @param idle what a connection may wait for its next request
 * @param response what a reply may take to be read
 */
record HttpBounds(
    int connections,
    int bodyBytes,
    long heldBytes,
    int requests,
    Duration request,
    Duration idle,
    Duration response) {

  private static final long HELD_BYTES = 8L << 20;
  private static final int REQUESTS = 256;

  /** The bounds of a listener whose clients send bodies of at most {@code bodyBytes}. */
  static HttpBounds of(int connections, int bodyBytes) {
    return new HttpBounds(
        connections,
        bodyBytes,
        Math.max(HELD_BYTES, 2L * bodyBytes),
        REQUESTS,
        Duration.ofSeconds(HttpListener.REQUEST_SECONDS),
        Duration.ofSeconds(HttpListener.IDLE_SECONDS),
        Duration.ofSeconds(HttpListener.RESPONSE_SECONDS));
  }
}
