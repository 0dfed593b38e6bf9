package io.throttlekit.service;

import io.throttlekit.TimeSource;

/**
 * A clock that runs slower than the machine's, with which a busy machine does in the time that a
 * service gives itself what an idle one does.
 *
 * @param times by which it is slower, from 1
 */
public record SlowTime(int times) implements TimeSource {

  @Override
  public long wallMillis() {
    return TimeSource.system().wallMillis();
  }

  @Override
  public long monotonicNanos() {
    return TimeSource.system().monotonicNanos() / times;
  }
}
