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

  /** Of what is left, one part in so many is for the way back. */
  private static final int WAY_BACK_SHARE = 10;

  private static final long LEAST_WAY_BACK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private ExpectedTimeout() {}

  /**
   * Returns the ns that a decision may wait for something: what is left until the caller goes, less
   * a tenth and at least 2 ms less, in which the answer gets back to it; 0 where nothing is left,
   * {@link Long#MAX_VALUE} where the caller names no timeout.
   *
   * @param deadline of the call in gRPC's own terms
   * @param ageNanos how long ago the call came
   */
  static long patienceNanos(Metadata headers, @Nullable Deadline deadline, long ageNanos) {
    long timeout = timeoutNanos(headers);
    long byHeader = timeout == Long.MAX_VALUE ? timeout : timeout - ageNanos;
    long byGrpc = deadline == null ? Long.MAX_VALUE : deadline.timeRemaining(TimeUnit.NANOSECONDS);
    long left = Math.min(byHeader, byGrpc);
    return left == Long.MAX_VALUE
        ? left
        : Math.max(0, left - Math.max(left / WAY_BACK_SHARE, LEAST_WAY_BACK_NANOS));
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
