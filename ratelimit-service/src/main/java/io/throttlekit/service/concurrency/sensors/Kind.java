package io.throttlekit.service.concurrency.sensors;

/**
 * The outcome of a request, as far as it matters to a limit algorithm.
 *
 * <p>All but {@link #CONTINUES} end the request. Only outcomes that show the backend's load are
 * samples or drops: a fast failure resembles a fast backend, and Envoy's own responses show nothing
 * of the backend.
 */
public enum Kind {
  /** The request has not ended: an access log entry at its beginning, or an intermediate one. */
  CONTINUES,
  /** The backend answered the first attempt without an error. */
  ANSWERED,
  /** The backend answered with an error, possibly faster than with a success. */
  SERVER_ERROR,
  /** The backend refused it with its own 429 or 503. */
  SHED,
  /** The backend did not answer within the route's timeout. */
  TIMED_OUT,
  /** Envoy refused it because the cluster's concurrency limit (circuit breaker) was reached. */
  LIMIT_REACHED,
  /** Envoy refused it because too many requests waited for a connection. */
  QUEUE_FULL,
  /** A rate limit refused it, of this service or of Envoy. */
  RATE_LIMITED,
  /** Authorization refused it, or was unavailable. */
  UNAUTHORIZED,
  /** The client disconnected; the backend may still be processing it. */
  CLIENT_LEFT,
  /** The connection to the backend failed or was reset. */
  CONNECTION_FAILED,
  /** There was no route, no cluster or no healthy host. */
  NO_HOST,
  /** Envoy aborted it for a reason other than the backend: idle, too long, malformed. */
  ABORTED,
  /** Envoy's fault filter delayed or aborted it. */
  INJECTED,
  /** It took several attempts, so that its times describe none of them. */
  RETRIED,
  /** Envoy answered it with a local reply. */
  LOCAL_REPLY,
  /** The backend answered it, but the entry has no duration, or an impossible one. */
  UNTIMED,
  /** A sample or a drop that was discarded because more came than are evaluated. */
  CROWDED_OUT;

  /** Returns whether the request has ended. */
  public boolean ends() {
    return this != CONTINUES;
  }

  /** Returns whether the backend's response time is a sample of its load. */
  public boolean isSample() {
    return this == ANSWERED;
  }

  /** Returns whether the backend's response time may be known. */
  public boolean mayBeMeasured() {
    return isSample() || this == CROWDED_OUT;
  }

  /** Returns whether it is evidence of overload. */
  public boolean isDrop() {
    return this == TIMED_OUT;
  }

  /** Returns whether the backend failed. */
  public boolean isError() {
    return switch (this) {
      case SERVER_ERROR, SHED, TIMED_OUT, CONNECTION_FAILED -> true;
      default -> false;
    };
  }

  /** Returns whether the request is known to have reached the backend. */
  public boolean reachedBackend() {
    return switch (this) {
      case ANSWERED, SERVER_ERROR, SHED, UNTIMED -> true;
      default -> false;
    };
  }
}
