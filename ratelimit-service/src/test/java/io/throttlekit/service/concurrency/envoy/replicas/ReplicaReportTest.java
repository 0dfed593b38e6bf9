package io.throttlekit.service.concurrency.envoy.replicas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Left;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Load;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Outcome;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.steering.SteeringExchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicaReportTest {
  private static final long MILLI = 1_000_000L;
  private static final ClusterLimit UP = new ClusterLimit("up", Priority.HIGH);
  private static final ReplicaReport SAMPLE =
      new ReplicaReport(
          -7,
          3,
          2,
          List.of(
              new StreamState("edge 1", "0123456789abcdef", 9, 8, Map.of(UP, 5)),
              new StreamState("edge\u00e9", "0123456789abcde0", 0, 0, Map.of())),
          List.of(new Load("edge 1", 4, "up", 1L << 48, 6, 7)),
          List.of(new Left("edge 1", 5)),
          List.of(
              new Outcome("edge 1", "up", Kind.ANSWERED, 20_000, 21_000, 300, "/r", "10.0.0.1"),
              new Outcome("", "up", Kind.TIMED_OUT, 0, 1, 0, "", "10.0.0.1")));

  @Test
  void aTextIsReadAsItWasWritten() {
    assertThat(ReplicaReport.parse(SAMPLE.text())).isEqualTo(SAMPLE);
    ReplicaReport empty = new ReplicaReport(1, 1, 0, null, List.of(), List.of(), List.of());
    assertThat(ReplicaReport.parse(empty.text())).isEqualTo(empty);
    ReplicaReport none = new ReplicaReport(1, 1, 0, List.of(), List.of(), List.of(), List.of());
    assertThat(ReplicaReport.parse(none.text())).isEqualTo(none);
  }

  @Test
  void namesOfClientsCannotBreakTheText() {
    String name = "a\nb\0c\uD800d\uD83D\uDE00";
    Outcome outcome = new Outcome(name, "up", Kind.SHED, 0, 0, 0, name, name);
    ReplicaReport read =
        ReplicaReport.parse(
            new ReplicaReport(1, 1, 0, null, List.of(), List.of(), List.of(outcome)).text());
    assertThat(read.outcomes().getFirst().route()).isEqualTo("a\uFFFDb\uFFFDc\uFFFDd\uD83D\uDE00");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "2 1 1 0 0 - 0 0 0\n",
        "1 1 1 0 0 - 0 0 0",
        "1 1 1 0 0 - 0 0 0\nx",
        "1 x 1 0 0 - 0 0 0\n",
        "1 11111111111111111 1 0 0 - 0 0 0\n",
        "1 1 -1 0 0 - 0 0 0\n",
        "1 1 99999999999999999 0 0 - 0 0 0\n",
        "1 1 1 0 2 0 - 0 0 0\n", // a number too many
        "1 1 1 0 1 - 0 0 0\n",
        "1 1 1 0 999999999 - 0 0 0\n",
        "1 1 1 0 0 999999999 0 0 0\n",
        "1 1 1 0 0 - 999999 0 0\n",
        "1 1 1 0 0 - 0 0 999999\n",
        "1 1 1 0 1 1 0 0 0\na\n0 0 1 1\n", // no token
        "1 1 1 0 2 1 0 0 0\na\n0123456789abcdef\n0 1 1 2\n", // acknowledged what was not sent
        "1 1 1 0 3 1 0 0 0\na\n0123456789abcdef\nLOW\n0 1 1 1 0 2 5\n", // no such priority
        "1 1 1 0 3 1 0 0 0\na\n0123456789abcdef\nHIGH\n0 1 1 1 0 2 9999999999\n", // share
        "1 1 1 0 1 - 1 0 0\na\n1 1 0 1 1 1\n", // no such name
        "1 1 1 0 1 - 1 0 0\na\n0 1 0 -1 1 1\n",
        "1 1 1 0 1 - 1 0 0\na\n0 1 0 1 1 90000000000\n", // older than a day
        "1 1 1 0 2 - 0 0 1\na\nCONTINUES\n0 0 1 0 1 1 0 0\n", // not ended
        "1 1 1 0 2 - 0 0 1\na\nANSWERED\n0 0 1 0 1 1 0 0\n", // a sample without a latency
        "1 1 1 0 2 - 0 0 1\na\nLIMIT_REACHED\n0 0 1 9 1 1 0 0\n", // a latency of none
        "1 1 1 0 2 - 0 0 1\na\nENDED\n0 0 1 0 1 1 0 0\n",
      })
  void otherTextsAreRejected(String text) {
    assertThatThrownBy(() -> ReplicaReport.parse(text))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_126)
  void aDamagedTextIsReadOrRejected(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    String text = SAMPLE.text();
    int rejected = 0;
    for (int i = 0; i < 20_000; i++) {
      StringBuilder damaged = new StringBuilder(text);
      for (int change = random.nextInt(1, 4); change > 0; change--) {
        int at = random.nextInt(damaged.length());
        switch (random.nextInt(3)) {
          case 0 -> damaged.setCharAt(at, (char) random.nextInt(256));
          case 1 -> damaged.deleteCharAt(at);
          default -> damaged.insert(at, "0123456789 \n-".charAt(random.nextInt(13)));
        }
      }
      rejected += isRejected(damaged.toString()) ? 1 : 0;
    }
    assertThat(rejected).isBetween(5_000, 19_999);
  }

  private static boolean isRejected(String text) {
    try {
      ReplicaReport.parse(text);
      return false;
    } catch (IllegalArgumentException expected) {
      return true;
    }
  }

  @Test
  void outcomesBeyondABoundAreDroppedAndCountedTheOldestFirst() {
    ReportBuffer buffer = new ReportBuffer(1);
    for (int i = 1; i <= 20_000; i++) {
      buffer.ended("e", answered(i * MILLI, "r"), 0, 0);
    }
    assertThat(buffer.isFull()).isTrue();
    List<Outcome> reported = new ArrayList<>();
    ReplicaReport report = next(buffer, null, 0);
    assertThat(report.dropped()).isEqualTo(4_000);
    while (!report.outcomes().isEmpty()) {
      assertThat(report.outcomes()).hasSizeLessThanOrEqualTo(4_000);
      reported.addAll(report.outcomes());
      report = next(buffer, null, 0);
      assertThat(report.dropped()).isZero();
    }
    assertThat(reported).hasSize(16_000);
    assertThat(reported.getFirst().rttMicros()).isEqualTo(4_001_000);
    assertThat(reported.getLast().rttMicros()).isEqualTo(20_000_000);
  }

  @Test
  void outcomesThatWaitedTooLongAreDropped() {
    ReportBuffer buffer = new ReportBuffer(1);
    buffer.ended("e", answered(MILLI, "r"), 0, 0);
    buffer.ended("e", answered(MILLI, "r"), 0, 2_000 * MILLI);
    ReplicaReport report = next(buffer, null, 6_000 * MILLI);
    assertThat(report.dropped()).isEqualTo(1);
    assertThat(report.outcomes())
        .singleElement()
        .satisfies(outcome -> assertThat(outcome.ageMicros()).isEqualTo(4_000_000));
  }

  /** Names as long as clients can choose them, all different. */
  @Test
  void theLongestReportFits() {
    ReportBuffer buffer = new ReportBuffer(1);
    List<StreamState> streams = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      String suffix = String.format("%08d", i);
      buffer.ended("e".repeat(248) + suffix, answered(MILLI, "r".repeat(56) + suffix), 0, 0);
      buffer.reported("l".repeat(248) + suffix, i, load(1L << 48, 1L << 48), 0);
      buffer.left("f".repeat(248) + suffix, 1L << 48);
      if (i < 2_000) {
        streams.add(
            new StreamState(
                "e".repeat(248) + suffix,
                String.format("%016x", i),
                1L << 52,
                1L << 52,
                Map.of(UP, 1 << 30)));
      }
    }
    String text = buffer.next(streams, 0);
    assertThat(text.length()).isBetween(700_000, SteeringExchange.MAX_REPORT);
    assertThat(ReplicaReport.parse(text).streams()).hasSize(2_000);
  }

  @Test
  void loadsOfAStreamThatWaitAreAddedUp() {
    ReportBuffer buffer = new ReportBuffer(1);
    buffer.reported("e", 1, load(5, 10), 0);
    buffer.reported("e", 1, load(7, 20), 0);
    buffer.reported("e", 2, load(1, 1), 0);
    assertThat(next(buffer, null, MILLI).loads())
        .containsExactly(new Load("e", 1, "up", 7, 30, 1_000), new Load("e", 2, "up", 1, 1, 1_000));
    buffer.reported("e", 1, load(5, 10), 0);
    buffer.left("e", 1);
    ReplicaReport report = next(buffer, null, 0);
    assertThat(report.loads()).isEmpty();
    assertThat(report.left()).containsExactly(new Left("e", 1));
    assertThat(buffer.isEmpty()).isTrue();
  }

  private static ReplicaReport next(
      ReportBuffer buffer, @Nullable List<StreamState> streams, long nowNanos) {
    return ReplicaReport.parse(buffer.next(streams, nowNanos));
  }

  private static Reading answered(long nanos, String route) {
    return new Reading(Kind.ANSWERED, "up", nanos, List.of(), true, route, "127.0.0.1");
  }

  private static ClusterLoad load(long inProgress, long succeeded) {
    return new ClusterLoad("up", inProgress, 0, succeeded, 0, 0, 0);
  }
}
