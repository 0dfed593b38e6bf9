package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.StreamDoneEntry;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A release on its way to the process of its permit.
 *
 * <p>Its text is {@code 1 <id> <response code> <latency in µs> <gRPC status>}; 1 is the version of
 * the format, and {@code -} stands for a value that was not reported.
 */
record ForwardedRelease(String id, StreamReport report) {
  private static final String VERSION = "1";
  private static final String ABSENT = "-";
  private static final int PARTS = 5;

  /** Returns the release of this text; null if the text is of another version or malformed. */
  static @Nullable ForwardedRelease of(String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length != PARTS || !parts[0].equals(VERSION)) {
      return null;
    }
    StreamReport report = StreamReport.NONE;
    report = with(report, StreamDoneEntry.RESPONSE_CODE, parts[2]);
    report = report == null ? null : with(report, StreamDoneEntry.LATENCY, parts[3]);
    report = report == null ? null : with(report, StreamDoneEntry.GRPC_STATUS, parts[4]);
    return report == null ? null : new ForwardedRelease(parts[1], report);
  }

  private static @Nullable StreamReport with(
      StreamReport report, StreamDoneEntry entry, String value) {
    if (value.equals(ABSENT)) {
      return report;
    }
    try {
      return report.with(entry, Long.parseLong(value));
    } catch (NumberFormatException _) {
      return null;
    }
  }

  /** Returns the text of the release. */
  String text() {
    long micros =
        report.hasLatency()
            ? TimeUnit.NANOSECONDS.toMicros(report.latencyNanos())
            : StreamReport.ABSENT;
    return String.join(
        " ", VERSION, id, word(report.responseCode()), word(micros), word(report.grpcStatus()));
  }

  private static String word(long value) {
    return value == StreamReport.ABSENT ? ABSENT : Long.toString(value);
  }
}
