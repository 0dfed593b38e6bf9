package io.throttlekit.service.concurrency.sensors;

/** Counts the events of load reports. For one thread. */
final class LoadCounts extends StreamCounts implements LoadReportListener {
  int reported;
  int impossible;

  @Override
  public void reported() {
    reported++;
  }

  @Override
  public void impossible() {
    impossible++;
  }
}
