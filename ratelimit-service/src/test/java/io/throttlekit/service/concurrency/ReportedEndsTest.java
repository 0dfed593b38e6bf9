package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.StreamDoneEntry;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportedEndsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final StreamReport ANSWERED = report(200, 5_000, -1);
  private static final StreamReport UNMEASURED = report(200, -1, -1);
  private static final StreamReport TIMED_OUT = report(504, -1, -1);

  private final ReportedEnds ends = new ReportedEnds();

  @ParameterizedTest
  @CsvSource({
    // code, µs, grpc status; −1 for absent
    "200, 5000, -1, ANSWERED",
    "204, 1, 0, ANSWERED",
    "404, 5000, -1, ANSWERED",
    "499, 5000, 5, ANSWERED",
    "-1, 5000, -1, ANSWERED",
    "200, -1, -1, UNMEASURED",
    "-1, -1, 0, UNMEASURED",
    "429, 50, -1, FAILED",
    "500, 50, -1, FAILED",
    "503, 50, -1, FAILED",
    "503, -1, -1, FAILED",
    "504, 50, -1, FAILED",
    "200, 50, 14, FAILED",
    "-1, -1, 8, FAILED",
    "504, -1, -1, TIMED_OUT",
    "0, -1, -1, NO_RESPONSE",
    "0, 5000, 0, NO_RESPONSE",
    "101, 5000, -1, UPGRADED",
  })
  void aReportIsOfOneKind(int code, long micros, int grpcStatus, StreamEnd kind) {
    assertThat(report(code, micros, grpcStatus).end()).isEqualTo(kind);
  }

  @ParameterizedTest
  @CsvSource({
    "RESPONSE_CODE, -1, 1, 99, 600, 4294967496, 9007199254740991",
    "LATENCY, -1, 0, 1000000001, 4294967297, 9007199254740991, -9007199254740991",
    "GRPC_STATUS, -1, 17, 256, 4294967296, 9007199254740991, -9007199254740991",
  })
  void aValueOutOfItsRangeIsNoReport(
      StreamDoneEntry entry, long a, long b, long c, long d, long e, long f) {
    for (long value : new long[] {a, b, c, d, e, f}) {
      assertThat(StreamReport.NONE.with(entry, value)).as("%s", value).isNull();
    }
  }

  @Test
  void onlyAnswersAreSamplesAndFailuresAreNoEvidence() {
    assertThat(ending(ANSWERED, 0)).isEqualTo(new Ending.Measured(5_000_000));
    for (StreamReport fails :
        new StreamReport[] {
          report(503, 50, -1), report(0, -1, -1), report(101, 50, -1), report(200, 50, 14)
        }) {
      assertThat(ending(fails, 0)).as("%s", fails).isEqualTo(Ending.Plain.UNKNOWN);
    }
  }

  @Test
  void withoutLatenciesAnAnswerIsTimedByItsPermit() {
    assertThat(ending(UNMEASURED, 0)).isEqualTo(Ending.Plain.ANSWERED);
    assertThat(ending(report(503, -1, -1), 0)).isEqualTo(Ending.Plain.UNKNOWN);
    assertThat(ending(UNMEASURED, SECOND)).isEqualTo(Ending.Plain.ANSWERED);
  }

  @Test
  void whereLatenciesAreReportedAnAnswerWithoutOneIsNoEvidence() {
    ending(ANSWERED, 0);
    assertThat(ending(UNMEASURED, 599 * SECOND)).isEqualTo(Ending.Plain.UNKNOWN);
    ending(report(503, 50, -1), 599 * SECOND); // a latency, too
    assertThat(ending(UNMEASURED, 1_198 * SECOND)).isEqualTo(Ending.Plain.UNKNOWN);
    assertThat(ending(UNMEASURED, 1_199 * SECOND))
        .as("ten minutes after the last")
        .isEqualTo(Ending.Plain.ANSWERED);
  }

  @Test
  void aTimeoutIsEvidenceWhileMoreThanHalfOfTheRequestsTimeOut() {
    assertThat(ending(TIMED_OUT, 0)).as("the only one").isEqualTo(Ending.Plain.TIMED_OUT);
    ending(ANSWERED, 0);
    ending(ANSWERED, 0);
    assertThat(ending(TIMED_OUT, 0)).as("two of four").isEqualTo(Ending.Plain.UNKNOWN);
    assertThat(ending(TIMED_OUT, 0)).as("three of five").isEqualTo(Ending.Plain.TIMED_OUT);
    ending(report(503, 50, -1), 0);
    assertThat(ending(TIMED_OUT, 0)).as("failures do not count").isEqualTo(Ending.Plain.TIMED_OUT);
  }

  @Test
  void timeoutsAreComparedWithTheRequestsOfTheLastFiveToTenSeconds() {
    for (int i = 0; i < 10; i++) {
      ending(ANSWERED, 0);
    }
    assertThat(ending(TIMED_OUT, 10 * SECOND - 1)).isEqualTo(Ending.Plain.UNKNOWN);
    assertThat(ending(TIMED_OUT, 10 * SECOND)).isEqualTo(Ending.Plain.TIMED_OUT);
    ending(ANSWERED, 10 * SECOND);
    ending(ANSWERED, 10 * SECOND);
    assertThat(ending(TIMED_OUT, 20 * SECOND))
        .as("after a period without requests")
        .isEqualTo(Ending.Plain.TIMED_OUT);
  }

  private Ending ending(StreamReport report, long nowNanos) {
    return ends.ending(report, nowNanos);
  }

  private static StreamReport report(int code, long micros, int grpcStatus) {
    StreamReport report = StreamReport.NONE;
    report = code < 0 ? report : with(report, StreamDoneEntry.RESPONSE_CODE, code);
    report = micros < 0 ? report : with(report, StreamDoneEntry.LATENCY, micros);
    return grpcStatus < 0 ? report : with(report, StreamDoneEntry.GRPC_STATUS, grpcStatus);
  }

  private static StreamReport with(StreamReport report, StreamDoneEntry entry, long value) {
    return Objects.requireNonNull(report.with(entry, value));
  }
}
