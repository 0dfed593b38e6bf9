package io.throttlekit.service.concurrency.envoy;

/** Counts the events of load reports. For one thread. */
final class LoadCounts implements LoadReportListener {
  int streams;
  int rejected;
  int reported;
  int impossible;

  @Override
  public void opened() {
    streams++;
  }

  @Override
  public void closed() {
    streams--;
  }

  @Override
  public void rejected() {
    rejected++;
  }

  @Override
  public void reported() {
    reported++;
  }

  @Override
  public void impossible() {
    impossible++;
  }
}
