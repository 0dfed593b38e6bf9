package io.throttlekit.service.server;

import io.grpc.Deadline;
import io.grpc.Metadata;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The caller's timeout, which Envoy sends with each call in a header. */
final class ExpectedTimeout {
  private static final Metadata.Key<String> HEADER =
      Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER);

  /** One day. Longer values are clamped to it, so that sums in ns cannot overflow. */
  private static final long MAX_MILLIS = 86_400_000;

  /** The digits of {@link #MAX_MILLIS}; a longer text is no timeout, and cannot overflow a long. */
  private static final int MAX_DIGITS = 8;

  /** The shortest timeout, as the header is in whole milliseconds. */
  static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The divisor of the timeout that yields the time reserved for the answer's way back. */
  private static final int WAY_BACK_SHARE = 10;

  /** The least time reserved for the answer's way back, where a tenth of the timeout is less. */
  private static final long MIN_WAY_BACK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private ExpectedTimeout() {}

  /**
   * Returns the remaining time of a decision, in ns: the smaller of Envoy's timeout and the call's
   * deadline, less a tenth and at least 2 ms, in which the answer gets back, and less the age of
   * the call; 0 where nothing is left, {@link Long#MAX_VALUE} where the caller sends neither.
   *
   * @param deadline the call's gRPC deadline, which begins when the call is read
   * @param ageNanos time since the call arrived
   * @param readNanos time since it was read, at most its age; added to the gRPC deadline because
   *     the age, which is subtracted, contains it
   */
  static long waitTimeoutNanos(
      Metadata headers, @Nullable Deadline deadline, long ageNanos, long readNanos) {
    long byGrpc =
        deadline == null
            ? Long.MAX_VALUE
            : deadline.timeRemaining(TimeUnit.NANOSECONDS) + readNanos;
    long timeout = Math.min(timeoutNanos(headers), byGrpc);
    return timeout == Long.MAX_VALUE
        ? timeout
        : Math.max(0, timeout - Math.max(timeout / WAY_BACK_SHARE, MIN_WAY_BACK_NANOS) - ageNanos);
  }

  /**
   * Returns the age, in ns, from which a request is refused instead of decided: three quarters of
   * the timeout.
   *
   * <p>The remaining quarter is for refusing the other requests that were read with it, before
   * answers are written: at ten times the load that can be decided, that takes a sixth.
   *
   * @param deadline the call's gRPC deadline, which does not contain the wait for the event loop
   */
  static long decidedBeforeNanos(Metadata headers, @Nullable Deadline deadline) {
    long byHeader = timeoutNanos(headers);
    long byGrpc = deadline == null ? Long.MAX_VALUE : deadline.timeRemaining(TimeUnit.NANOSECONDS);
    // Divided before it is multiplied: 3 · timeout could overflow.
    long least = Math.min(byHeader, byGrpc);
    return least == Long.MAX_VALUE ? least : least / 4 * 3;
  }

  /** Returns the timeout that Envoy sent, in ns; {@link Long#MAX_VALUE} where it sent none. */
  static long timeoutNanos(Metadata headers) {
    long millis = millis(headers.get(HEADER));
    return millis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Returns the milliseconds in the text, at most a day; 0 where it is not a timeout. */
  private static long millis(@Nullable String text) {
    if (text == null || text.isEmpty() || text.length() > MAX_DIGITS) {
      return 0;
    }
    long millis = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return 0;
      }
      millis = millis * 10 + digit;
    }
    return Math.min(millis, MAX_MILLIS);
  }
}
