package io.throttlekit.service.telemetry;

/** Counts the calls of one method. Implementations are thread-safe. */
public interface CallMetrics {

  /** Counts a call that ended, also with an error, and how long it took, in ns. */
  void answered(long nanos);

  /** Counts a request that got no decision. */
  void failed(Failure failure);
}
