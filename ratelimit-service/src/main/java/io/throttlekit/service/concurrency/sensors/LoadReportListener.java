package io.throttlekit.service.concurrency.sensors;

/** Listener for load reports. Implementations are thread-safe and do not block. */
public interface LoadReportListener extends StreamListener {

  /** Called when a report was read. */
  void reported();

  /** Called when a report had impossible values for a cluster, which were not used. */
  void impossible();
}
