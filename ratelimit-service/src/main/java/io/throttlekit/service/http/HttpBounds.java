package io.throttlekit.service.http;

import java.time.Duration;

/**
 * The bounds of one listener, which limit its memory whatever its clients do.
 *
 * @param connections maximum of open connections; one more closes the one that has waited longest
 *     for its next request, or else the one whose answer takes longest
 * @param bodyBytes maximum length of a request's body
 * @param heldBytes maximum bytes of bodies that are not yet answered, and maximum bytes of replies
 *     that are not yet sent, a shared reply counted once
 * @param requests maximum of requests in progress per path; more are answered 503
 * @param request maximum time for a request to arrive
 * @param idle maximum time between two requests of a connection
 * @param response maximum time for a client to read a reply
 */
record HttpBounds(
    int connections,
    int bodyBytes,
    long heldBytes,
    int requests,
    Duration request,
    Duration idle,
    Duration response) {

  /** Enough for many bodies or replies of usual size, and small beside the heap. */
  private static final long HELD_BYTES = 8L << 20;

  /** Requests in progress per path, each on a virtual thread of its own. */
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
