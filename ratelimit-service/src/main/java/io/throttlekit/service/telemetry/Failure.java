package io.throttlekit.service.telemetry;

import java.util.List;

/** Why a request got no decision. */
public enum Failure {
  /** The request was refused as invalid, or there were no policies to decide it by. */
  SERVICE("service_error"),
  /** The store of counters did not answer. */
  STORE("redis_error"),
  /** The caller left, or had given up, before there was an answer: no fault of the service. */
  CANCELLED(""),
  /** The request was read so late that its answer could not have been in time. */
  SHED("");

  /** Those that envoyproxy/ratelimit counts. */
  static final List<Failure> OF_THE_ORIGINAL = List.of(SERVICE, STORE);

  private final String errorType;

  Failure(String errorType) {
    this.errorType = errorType;
  }

  /** The {@code err_type} that envoyproxy/ratelimit's dashboards ask for; else empty. */
  String errorType() {
    return errorType;
  }
}
