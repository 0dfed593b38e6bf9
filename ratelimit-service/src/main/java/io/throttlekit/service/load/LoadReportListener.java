package io.throttlekit.service.load;

/** Listener for load reports. Implementations are thread-safe and do not block. */
public interface LoadReportListener {

  /** Called when a stream begins. */
  void opened();

  /** Called when a stream ends. */
  void closed();

  /** Called when a stream was ended because it named no node id that it may use. */
  void rejected();

  /** Called when a report was read. */
  void reported();

  /** Called when a report had impossible values for a cluster, which were not used. */
  void impossible();
}
