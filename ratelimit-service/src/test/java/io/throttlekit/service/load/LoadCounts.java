package io.throttlekit.service.load;

/** Counts the events of load reports. For one thread. */
final class LoadCounts implements LoadReportListener {
  int streams;
  int turnedAway;
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
  public void turnedAway() {
    turnedAway++;
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
