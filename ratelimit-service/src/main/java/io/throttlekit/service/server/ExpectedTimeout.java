package io.throttlekit.service.server;

import io.grpc.Deadline;
import io.grpc.Metadata;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long a caller waits for an answer, as it says with each call: Envoy in a header of its own.
 */
final class ExpectedTimeout {
  private static final Metadata.Key<String> HEADER =
      Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER);

  /** A day; more digits are nobody's timeout. */
  private static final long LONGEST_MILLIS = 86_400_000;

  private static final int MOST_DIGITS = 8;

  /** No timeout is shorter: the header is in whole ms. */
  static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Of a timeout, one part in so many is for the way back. */
  private static final int WAY_BACK_SHARE = 10;

  private static final long LEAST_WAY_BACK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private ExpectedTimeout() {}

  /**
   * Returns the ns that a decision may still wait for something: the smaller of Envoy's timeout and
   * the call's deadline, less a tenth and at least 2 ms, in which the answer gets back, and less
   * the age of the call; 0 where nothing is left, {@link Long#MAX_VALUE} where the caller names
   * neither.
   *
   * @param deadline of the call in gRPC's own terms, which begins when the call is read
   * @param ageNanos how long ago the call arrived
   * @param readNanos how long ago it was read, at most its age: the caller has waited as long as it
   *     lay unread, which gRPC does not know
   */
  static long patienceNanos(
      Metadata headers, @Nullable Deadline deadline, long ageNanos, long readNanos) {
    long byGrpc =
        deadline == null
            ? Long.MAX_VALUE
            : deadline.timeRemaining(TimeUnit.NANOSECONDS) + readNanos;
    long timeout = Math.min(timeoutNanos(headers), byGrpc);
    return timeout == Long.MAX_VALUE
        ? timeout
        : Math.max(
            0, timeout - Math.max(timeout / WAY_BACK_SHARE, LEAST_WAY_BACK_NANOS) - ageNanos);
  }

  /**
   * Returns the age, in ns, from which a request is not decided any more when its turn comes: three
   * quarters of the timeout. The rest is for refusing the others that were read with it, before
   * answers are written: at ten times the load that can be decided, that takes a sixth.
   *
   * @param deadline of the call in gRPC's own terms, of which the wait for the event loop has taken
   *     nothing yet
   */
  static long decidedBeforeNanos(Metadata headers, @Nullable Deadline deadline) {
    long byHeader = timeoutNanos(headers);
    long byGrpc = deadline == null ? Long.MAX_VALUE : deadline.timeRemaining(TimeUnit.NANOSECONDS);
    long least = Math.min(byHeader, byGrpc);
    return least == Long.MAX_VALUE ? least : least / 4 * 3;
  }

  /** The ns after which an Envoy that asked has gone; {@link Long#MAX_VALUE} where it says none. */
  static long timeoutNanos(Metadata headers) {
    long millis = millis(headers.get(HEADER));
    return millis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** 0 for what is no timeout. */
  private static long millis(@Nullable String text) {
    if (text == null || text.isEmpty() || text.length() > MOST_DIGITS) {
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
    return Math.min(millis, LONGEST_MILLIS);
  }
}
