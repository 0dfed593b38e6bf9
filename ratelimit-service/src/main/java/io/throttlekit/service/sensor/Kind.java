package io.throttlekit.service.sensor;

/**
 * What became of a request, as far as that matters to a ceiling.
 *
 * <p>All but {@link #GOES_ON} end it. Only what says something about how the backend copes is a
 * sample or a drop: a fast failure looks like a fast backend, and what Envoy answered by itself
 * says nothing.
 */
public enum Kind {
  /** The request has not ended: an entry at its beginning, or meanwhile. */
  GOES_ON,
  /** The backend answered it, at the first attempt and with no fault of its own. */
  ANSWERED,
  /** The backend answered with a failure, which may be faster than an answer. */
  SERVER_ERROR,
  /** The backend refused it, with 429 or 503 of its own. */
  SHED,
  /** The backend did not answer within the route's timeout. */
  TIMED_OUT,
  /** Envoy kept it from the backend because the cluster's ceiling was reached. */
  CEILING_REACHED,
  /** Envoy kept it from the backend because too many waited for a connection. */
  QUEUE_FULL,
  /** A rate limit refused it, ours or one of Envoy's own. */
  RATE_LIMITED,
  /** An authorization refused it, or could not be asked. */
  UNAUTHORIZED,
  /** The client left; the backend may still be at work. */
  CLIENT_LEFT,
  /** The connection to the backend could not be made, or broke. */
  CONNECTION_FAILED,
  /** There was no route, no cluster or no healthy host. */
  NO_HOST,
  /** Envoy broke it off for a reason that is not the backend's: idle, too long, malformed. */
  BROKEN_OFF,
  /** A fault was injected. */
  INJECTED,
  /** It took more than one attempt, so that the times are of none and of all. */
  RETRIED,
  /** Envoy answered it by itself. */
  LOCAL_REPLY,
  /** The backend answered it, but the entry does not say how long that took, or says nonsense. */
  UNTIMED,
  /** A sample or a drop that there was no time to learn from. */
  CROWDED_OUT;

  /** Whether the request has ended. */
  public boolean ends() {
    return this != GOES_ON;
  }

  /** Whether how long the backend took says how it copes. */
  public boolean isSample() {
    return this == ANSWERED;
  }

  /** Whether it is evidence of overload. */
  public boolean isDrop() {
    return this == TIMED_OUT;
  }

  /** Whether the backend failed it. */
  public boolean isError() {
    return switch (this) {
      case SERVER_ERROR, SHED, TIMED_OUT, CONNECTION_FAILED -> true;
      default -> false;
    };
  }

  /** Whether it is known to have reached the backend. */
  public boolean reachedBackend() {
    return switch (this) {
      case ANSWERED, SERVER_ERROR, SHED, UNTIMED -> true;
      default -> false;
    };
  }
}
