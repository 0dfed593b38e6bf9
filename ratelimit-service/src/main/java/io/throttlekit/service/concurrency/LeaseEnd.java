package io.throttlekit.service.concurrency;

/** What ended a lease. */
public enum LeaseEnd {
  /** Envoy said that the stream of the request is done. */
  STREAM_DONE,
  /** The request's entry came in the access log. */
  ACCESS_LOG,
  /** The caller was gone before it had the answer, so that the request never went on. */
  CANCELLED,
  /** Another rule refused the request, which never went on. */
  REFUSED,
  /** Nobody said anything for as long as a request may take. */
  EXPIRED
}
