package io.throttlekit.service.telemetry;

/** Why a request got no decision. */
public enum Failure {
  /** The request was refused as invalid, or there were no policies to decide it by. */
  SERVICE("service_error"),
  /** The store of counters did not answer. */
  STORE("redis_error");

  private final String errorType;

  Failure(String errorType) {
    this.errorType = errorType;
  }

  /** The {@code err_type} that envoyproxy/ratelimit's dashboards ask for. */
  String errorType() {
    return errorType;
  }
}
