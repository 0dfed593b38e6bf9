package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.StreamDoneEntry;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A release on its way to the process of its permit.
 *
 * <p>The text of a stream-done call is {@code 1 <id> <response code> <latency in µs> <gRPC
 * status>}; {@code -} stands for a value that was not reported. That of a log entry is {@code 2
 * <id> <ending>}, where the ending is {@code a} (answered), {@code t} (timed out), {@code u}
 * (unknown) or the latency in ns. Other texts are of another version.
 *
 * @param report of a stream-done call; NONE for a log entry
 * @param logged ending by a log entry; null for a stream-done call
 */
record ForwardedRelease(String id, StreamReport report, @Nullable Ending logged) {
  private static final String STREAM_DONE = "1";
  private static final String LOGGED = "2";
  private static final String ABSENT = "-";
  private static final int STREAM_DONE_PARTS = 5;
  private static final int LOGGED_PARTS = 3;

  static ForwardedRelease streamDone(String id, StreamReport report) {
    return new ForwardedRelease(id, report, null);
  }

  static ForwardedRelease logged(String id, Ending ending) {
    return new ForwardedRelease(id, StreamReport.NONE, ending);
  }

  /** Returns the release of this text; null if the text is of another version or malformed. */
  static @Nullable ForwardedRelease of(String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length == LOGGED_PARTS && parts[0].equals(LOGGED)) {
      Ending ending = ending(parts[2]);
      return ending == null ? null : logged(parts[1], ending);
    }
    if (parts.length != STREAM_DONE_PARTS || !parts[0].equals(STREAM_DONE)) {
      return null;
    }
    StreamReport report = StreamReport.NONE;
    report = with(report, StreamDoneEntry.RESPONSE_CODE, parts[2]);
    report = report == null ? null : with(report, StreamDoneEntry.LATENCY, parts[3]);
    report = report == null ? null : with(report, StreamDoneEntry.GRPC_STATUS, parts[4]);
    return report == null ? null : streamDone(parts[1], report);
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

  private static @Nullable Ending ending(String word) {
    return switch (word) {
      case "a" -> Ending.Plain.ANSWERED;
      case "t" -> Ending.Plain.TIMED_OUT;
      case "u" -> Ending.Plain.UNKNOWN;
      default -> measured(word);
    };
  }

  private static @Nullable Ending measured(String word) {
    try {
      long nanos = Long.parseLong(word);
      return nanos > 0 ? new Ending.Measured(nanos) : null;
    } catch (NumberFormatException _) {
      return null;
    }
  }

  /** Returns the text of the release. */
  String text() {
    Ending ending = logged;
    if (ending != null) {
      return String.join(" ", LOGGED, id, word(ending));
    }
    long micros =
        report.hasLatency()
            ? TimeUnit.NANOSECONDS.toMicros(report.latencyNanos())
            : StreamReport.ABSENT;
    return String.join(
        " ", STREAM_DONE, id, word(report.responseCode()), word(micros), word(report.grpcStatus()));
  }

  private static String word(long value) {
    return value == StreamReport.ABSENT ? ABSENT : Long.toString(value);
  }

  private static String word(Ending ending) {
    return switch (ending) {
      case Ending.Measured measured -> Long.toString(measured.nanos());
      case Ending.Plain.ANSWERED -> "a";
      case Ending.Plain.TIMED_OUT -> "t";
      case Ending.Plain.UNKNOWN -> "u";
    };
  }
}
