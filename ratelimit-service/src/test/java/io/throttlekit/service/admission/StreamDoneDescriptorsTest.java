package io.throttlekit.service.admission;

import static io.throttlekit.service.admission.AdmissionFixture.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.LimitOverride;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.service.concurrency.IgnoredReport;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.concurrency.StreamEnd;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stream-done calls report beside releases. */
class StreamDoneDescriptorsTest {
  /** Backs off when a latency is more than twice the least one; each request may change it. */
  private static final String AIMD =
      "- {key: up, concurrency: {algorithm: aimd, min: 1, max: 1000, initial: 100}}\n";

  private static final String RULES_WITH_THE_KEYS =
      """
      - {key: up, concurrency: {min: 2, max: 2}}
      - {key: throttlekit_response_code, rate_limit: {requests_per_unit: 0, unit: day}}
      - {key: throttlekit_latency_us, rate_limit: {requests_per_unit: 0, unit: day}}
      - {key: user, rate_limit: {requests_per_unit: 3, unit: day}}
      """;

  private AdmissionFixture deciding = AdmissionFixture.by(AIMD);

  @Test
  void fastFailuresDoNotLookLikeAFastBackend() {
    requests(1_000, 10, 200, 10_000);
    int healthy = limit();
    assertThat(healthy).isGreaterThanOrEqualTo(100);
    requests(1_000, 1, 503, 300);
    requests(1_000, 10, 200, 10_000);
    assertThat(limit()).isGreaterThanOrEqualTo(healthy);

    for (int i = 0; i < 1_000; i++) { // the same without reports: 1 ms becomes the least latency
      released(1);
    }
    for (int i = 0; i < 1_000; i++) {
      released(10);
    }
    assertThat(limit()).isLessThan(50);
  }

  @Test
  void theReportedLatencyCountsInsteadOfTheAgeOfThePermit() {
    requests(1_000, 10, 200, 10_000);
    int healthy = limit();
    requests(1_000, 50, 200, 10_000); // a slow upload, or a wait for a connection
    assertThat(limit()).isGreaterThanOrEqualTo(healthy);
    requests(1_000, 50, 200, 50_000);
    assertThat(limit()).isLessThan(50);
  }

  @Test
  void timeoutsOfMostRequestsLowerTheLimit() {
    requests(1_000, 10, 200, 10_000);
    deciding.time.advance(20_000);
    for (int i = 0; i < 1_000; i++) {
      String id = acquired();
      deciding.time.advance(10); // no longer than an answer
      deciding.ask(release(id), report(StreamDoneEntry.RESPONSE_CODE, id, 504));
    }
    assertThat(limit()).isLessThan(50);
  }

  @Test
  void reportsCountInAnyOrder() {
    String id = acquired();
    deciding.time.advance(10);
    deciding.ask(
        report(StreamDoneEntry.LATENCY, id, 9_000),
        release(id),
        report(StreamDoneEntry.RESPONSE_CODE, id, 200));
    assertThat(deciding.gated.reported).containsExactly(StreamEnd.ANSWERED);
    assertThat(deciding.gated.ends).containsExactly(PermitEnd.STREAM_DONE);
    assertThat(deciding.gated.ignored).isEmpty();
  }

  @Test
  void aLatencyLongerThanThePermitWasHeldIsIgnored() {
    String id = acquired();
    deciding.time.advance(10);
    deciding.ask(
        release(id),
        report(StreamDoneEntry.RESPONSE_CODE, id, 200),
        report(StreamDoneEntry.LATENCY, id, 10_101));
    assertThat(deciding.gated.ignored).containsExactly(IgnoredReport.TOO_LONG);
    assertThat(deciding.gated.reported).containsExactly(StreamEnd.UNMEASURED);

    String next = acquired();
    deciding.time.advance(10);
    deciding.ask(release(next), report(StreamDoneEntry.LATENCY, next, 10_100));
    assertThat(deciding.gated.ignored).as("within one percent").hasSize(1);
    assertThat(deciding.gated.reported).endsWith(StreamEnd.ANSWERED);
  }

  @Test
  void unusableValuesAreCountedAndDoNotPreventTheRelease() {
    String id = acquired();
    deciding.time.advance(10);
    String[] code = {StreamDoneEntry.RESPONSE_CODE.key(), id};
    deciding.ask(
        new Descriptor(code, null, Descriptor.HITS_UNSET, false),
        new Descriptor(code, null, 503, true),
        report(StreamDoneEntry.RESPONSE_CODE, id, 7),
        report(StreamDoneEntry.LATENCY, id, 0),
        report(StreamDoneEntry.RESPONSE_CODE, "another", 200),
        release(id));
    assertThat(deciding.gated.ignored)
        .containsExactly(
            IgnoredReport.NO_VALUE,
            IgnoredReport.OUT_OF_RANGE,
            IgnoredReport.OUT_OF_RANGE,
            IgnoredReport.OUT_OF_RANGE,
            IgnoredReport.NO_RELEASE);
    assertThat(deciding.gated.ends).containsExactly(PermitEnd.STREAM_DONE);
    assertThat(deciding.gated.reported).as("nothing was reported").isEmpty();
    assertThat(deciding.gated.stale).hasValue(0);
  }

  @Test
  void aReportReleasesNothingAlone() {
    String id = acquired();
    assertThat(deciding.ask(report(StreamDoneEntry.RESPONSE_CODE, id, 200)).verdicts())
        .containsExactly(Verdict.UNTOUCHED);
    assertThat(deciding.gated.ends).isEmpty();
    assertThat(deciding.gated.ignored).containsExactly(IgnoredReport.NO_RELEASE);
    deciding.ask(release(id));
    assertThat(deciding.gated.ends).containsExactly(PermitEnd.STREAM_DONE);
  }

  @Test
  void aDescriptorWithAReleaseReleasesWhateverStandsBesideIt() {
    String id = acquired();
    String[] both = {
      StreamDoneEntry.RESPONSE_CODE.key(), id, StreamDoneEntry.LEASE.key(), id, "user", "v"
    };
    deciding.ask(new Descriptor(both, null, 503, false));
    assertThat(deciding.gated.ends).containsExactly(PermitEnd.STREAM_DONE);
    assertThat(deciding.gated.reported).isEmpty();
  }

  @Test
  void reportsReachNoRuleAndAreNoTraffic() {
    deciding = AdmissionFixture.by(RULES_WITH_THE_KEYS);
    String id = acquired();
    List<String> before = traffic();
    LimitOverride none = new LimitOverride(0, LimitUnit.DAY);
    String[] code = {StreamDoneEntry.RESPONSE_CODE.key(), id};
    String[] userBeside = {"user", "v", StreamDoneEntry.LATENCY.key(), id};
    Answer answer =
        deciding.ask(
            release(id),
            new Descriptor(code, none, 200, false),
            new Descriptor(userBeside, null, 9_000, false));
    assertThat(answer.admitted()).isTrue();
    assertThat(answer.verdicts()).hasSize(3).containsOnly(Verdict.UNTOUCHED);
    assertThat(traffic()).isEqualTo(before);
    Answer charged = deciding.ask(charge("user"), new Descriptor(code, null, 200, false));
    assertThat(AdmissionFixture.left(charged, 0)).isEqualTo(2);
  }

  /** Whatever a call reports: it ends the permit that it releases, and no other. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 20_261_126})
  void noReportLeaksAPermit(long seed) {
    Random random = new Random(seed);
    List<String> open = new ArrayList<>();
    for (int step = 0; step < 2_000; step++) {
      deciding.time.advance(random.nextInt(3));
      open.add(acquired());
      String id = open.get(random.nextInt(open.size()));
      List<Descriptor> call = new ArrayList<>();
      for (int i = random.nextInt(5); i > 0; i--) {
        call.add(anyReport(random, random.nextInt(4) == 0 ? "forged" : id));
      }
      boolean releases = random.nextInt(4) > 0;
      if (releases) {
        call.add(release(id));
        open.remove(id);
      }
      Collections.shuffle(call, random);
      if (!call.isEmpty()) {
        assertThat(deciding.ask(call.toArray(Descriptor[]::new)).admitted()).isTrue();
      }
      assertThat(deciding.gate.permits().size()).isEqualTo(open.size());
      assertThat(inFlight()).isEqualTo(open.size());
      if (open.size() > 20) {
        deciding.ask(release(open.removeFirst()));
      }
    }
    assertThat(deciding.gated.ignored).contains(IgnoredReport.values());
    assertThat(deciding.gated.reported).contains(StreamEnd.values());
  }

  private static Descriptor anyReport(Random random, String id) {
    StreamDoneEntry[] kinds = StreamDoneEntry.values();
    String key = kinds[1 + random.nextInt(kinds.length - 1)].key();
    long[] values = {
      0, 1, 2, 14, 16, 17, 101, 200, 429, 503, 504, 599, 600, 10_000_000, 1L << 32, (1L << 53) - 1
    };
    @Nullable LimitOverride override =
        random.nextInt(8) == 0 ? new LimitOverride(0, LimitUnit.DAY) : null;
    boolean unset = random.nextInt(8) == 0;
    return new Descriptor(
        new String[] {key, id},
        override,
        unset ? Descriptor.HITS_UNSET : values[random.nextInt(values.length)],
        random.nextInt(8) == 0);
  }

  /** Sends requests one after the other. */
  private void requests(int count, int millis, int code, long latencyMicros) {
    for (int i = 0; i < count; i++) {
      String id = acquired();
      deciding.time.advance(millis);
      deciding.ask(
          release(id),
          report(StreamDoneEntry.RESPONSE_CODE, id, code),
          report(StreamDoneEntry.LATENCY, id, latencyMicros));
    }
  }

  private void released(int millis) {
    String id = acquired();
    deciding.time.advance(millis);
    deciding.ask(release(id));
  }

  private String acquired() {
    return Objects.requireNonNull(deciding.ask(charge("up")).permit()).id();
  }

  private static Descriptor release(String id) {
    String[] entries = {"up", "v", StreamDoneEntry.LEASE.key(), id};
    return new Descriptor(entries, null, Descriptor.HITS_UNSET, false);
  }

  private static Descriptor report(StreamDoneEntry entry, String id, long value) {
    return new Descriptor(new String[] {entry.key(), id}, null, value, false);
  }

  private int limit() {
    AtomicInteger limit = new AtomicInteger();
    deciding.gate.limits().forEach((_, figures) -> limit.set(figures.limit()));
    return limit.get();
  }

  private int inFlight() {
    AtomicInteger sum = new AtomicInteger();
    deciding.gate.limits().forEach((_, figures) -> sum.addAndGet(figures.inFlight()));
    return sum.get();
  }

  private List<String> traffic() {
    return StatsLines.of(deciding.metrics).toString().lines().toList();
  }
}
