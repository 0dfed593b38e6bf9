package io.throttlekit.service.concurrency;

/** The event that ended a permit. */
public enum PermitEnd {
  /** Envoy reported that the request's stream is done. */
  STREAM_DONE,
  /** The request's access log entry arrived. */
  ACCESS_LOG,
  /** The caller cancelled before it had the answer, so that the request was never forwarded. */
  CANCELLED,
  /** Another rule refused the request, so that it was never forwarded. */
  REFUSED,
  /** No release arrived within the TTL. */
  EXPIRED
}
