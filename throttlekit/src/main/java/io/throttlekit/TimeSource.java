package io.throttlekit;

/** The only clock that decisions use. Thread-safe. */
public interface TimeSource {

  /** Returns ms since the Unix epoch. May step in either direction with the host's clock. */
  long wallMillis();

  /** Returns ns from an arbitrary origin. Never runs backwards. Compare differences only. */
  long monotonicNanos();

  /** Returns the clocks of this host. */
  static TimeSource system() {
    return SystemTimeSource.INSTANCE;
  }
}
