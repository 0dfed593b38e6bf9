package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.StreamDoneEntry;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The values that a stream-done call reports about one request. Each may be {@link #ABSENT}: Envoy
 * sends only those that it has.
 *
 * @param responseCode 0 if the client got no response, else 100 to 599
 * @param latencyNanos latency of the backend, above 0
 * @param grpcStatus 0 to 16
 */
public record StreamReport(int responseCode, long latencyNanos, int grpcStatus) {
  /** The value of what was not reported. */
  public static final int ABSENT = -1;

  /** A report without any value. */
  public static final StreamReport NONE = new StreamReport(ABSENT, ABSENT, ABSENT);

  /** Envoy sends no larger number; as a latency, it is 1,000 s. */
  private static final long MAX_MICROS = 1_000_000_000;

  private static final int MAX_GRPC_STATUS = 16;

  private static final int SWITCHING_PROTOCOLS = 101;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;
  private static final int GATEWAY_TIMEOUT = 504;

  /** Returns this report with one more value, or null if the value is out of its range. */
  public @Nullable StreamReport with(StreamDoneEntry entry, long value) {
    return switch (entry) {
      case LEASE -> this;
      case RESPONSE_CODE ->
          value == 0 || (value >= 100 && value <= 599)
              ? new StreamReport((int) value, latencyNanos, grpcStatus)
              : null;
      case LATENCY ->
          value > 0 && value <= MAX_MICROS
              ? new StreamReport(responseCode, TimeUnit.MICROSECONDS.toNanos(value), grpcStatus)
              : null;
      case GRPC_STATUS ->
          value >= 0 && value <= MAX_GRPC_STATUS
              ? new StreamReport(responseCode, latencyNanos, (int) value)
              : null;
    };
  }

  /** Returns whether Envoy measured the latency of the backend. */
  boolean hasLatency() {
    return latencyNanos != ABSENT;
  }

  StreamReport withoutLatency() {
    return new StreamReport(responseCode, ABSENT, grpcStatus);
  }

  /** Returns the end of the request. Failures count as in access logs. */
  StreamEnd end() {
    if (responseCode == 0) {
      return StreamEnd.NO_RESPONSE;
    }
    // with a latency it is the backend's own 504, which may be fast
    if (responseCode == GATEWAY_TIMEOUT && !hasLatency()) {
      return StreamEnd.TIMED_OUT;
    }
    if (responseCode == TOO_MANY_REQUESTS || responseCode >= SERVER_ERROR || grpcFailed()) {
      return StreamEnd.FAILED;
    }
    if (responseCode == SWITCHING_PROTOCOLS) {
      return StreamEnd.UPGRADED;
    }
    return hasLatency() ? StreamEnd.ANSWERED : StreamEnd.UNMEASURED;
  }

  private boolean grpcFailed() {
    return switch (grpcStatus) {
      // UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE, DATA_LOSS
      case 2, 4, 8, 13, 14, 15 -> true;
      default -> false;
    };
  }
}
