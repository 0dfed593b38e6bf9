package io.throttlekit.envoy.xds;

import io.throttlekit.TimeSource;
import java.time.Duration;

/** A clock that the test sets; for one thread. */
final class SettableTime implements TimeSource {
  private long nanos = 1;

  void pass(Duration time) {
    nanos += time.toNanos();
  }

  @Override
  public long wallMillis() {
    throw new UnsupportedOperationException("limits have no use for the wall clock");
  }

  @Override
  public long monotonicNanos() {
    return nanos;
  }
}
