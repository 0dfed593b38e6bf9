package io.throttlekit;

/** The clocks of the host that runs this process. */
enum SystemTimeSource implements TimeSource {
  INSTANCE;

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long monotonicNanos() {
    return System.nanoTime();
  }
}
