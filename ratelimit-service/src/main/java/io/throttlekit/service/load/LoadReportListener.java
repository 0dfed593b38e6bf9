package io.throttlekit.service.load;

/** Is told what becomes of load reports. Thread-safe and quick. */
public interface LoadReportListener {

  /** A stream began. */
  void opened();

  /** A stream ended. */
  void closed();

  /**
   * A stream was ended at once because there are too many, or it named no node id that it may use.
   */
  void turnedAway();

  /** A report was read. */
  void reported();

  /** What a report said of a cluster is impossible, and was not used. */
  void impossible();
}
