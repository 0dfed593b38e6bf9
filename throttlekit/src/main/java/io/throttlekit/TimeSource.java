package io.throttlekit;

/**
 * The only clock that decisions see.
 *
 * <p>Implementations are thread-safe.
 */
public interface TimeSource {

  /** Milliseconds since the Unix epoch; may step in either direction when the host's clock does. */
  long wallMillis();

  /** Nanoseconds from an arbitrary origin; never runs backwards. Compare differences only. */
  long monotonicNanos();

  /** The clocks of this host. */
  static TimeSource system() {
    return SystemTimeSource.INSTANCE;
  }
}
