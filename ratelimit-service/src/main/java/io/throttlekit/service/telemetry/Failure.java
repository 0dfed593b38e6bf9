package io.throttlekit.service.telemetry;

import java.util.List;

/** Reason why a request got no decision. */
public enum Failure {
  /** The request was invalid, or no policies were loaded. */
  SERVICE("service_error"),
  /** The store of counters did not answer. */
  STORE("redis_error"),
  /** The caller cancelled or timed out before the answer: not an error of the service. */
  CANCELLED(""),
  /** The request was read too late for its answer to arrive in time. */
  SHED("");

  /** Failures that envoyproxy/ratelimit counts. */
  static final List<Failure> OF_THE_ORIGINAL = List.of(SERVICE, STORE);

  private final String errorType;

  Failure(String errorType) {
    this.errorType = errorType;
  }

  /**
   * Returns the {@code err_type} label that envoyproxy/ratelimit's dashboards use, or an empty
   * text.
   */
  String errorType() {
    return errorType;
  }
}
