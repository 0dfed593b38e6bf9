package io.throttlekit.service.concurrency;

/** The end of a request, as far as its release reports it. */
public enum StreamEnd {
  /** The backend answered, and Envoy measured its latency. */
  ANSWERED,
  /**
   * The request was answered, without a latency of the backend: Envoy does not report latencies, or
   * the backend's response is missing or incomplete.
   */
  UNMEASURED,
  /** The backend or Envoy answered with a failure, possibly faster than a success. */
  FAILED,
  /** Envoy stopped waiting for the backend. */
  TIMED_OUT,
  /** The client disconnected before it got a response. */
  NO_RESPONSE,
  /** The request switched protocols: its client chose when it ended. */
  UPGRADED
}
