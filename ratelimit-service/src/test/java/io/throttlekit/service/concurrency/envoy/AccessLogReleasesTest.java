package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.Gated;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.concurrency.RequestPermit;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AccessLogReleasesTest {
  private static final String LOGGED =
      "algorithm: aimd, min: 1, max: 100, initial: 10, lease: {release: access_log,"
          + " flush_interval: 0, service_time: 20ms}";
  private static final String STREAMED = "min: 1, max: 100";

  private final ManualTime time = new ManualTime(0);
  private final Gated gated = new Gated();
  private final ConcurrencyLimiter gate =
      new ConcurrencyLimiter(time, (_, _) -> {}, gated, () -> 1_000);
  private final AccessLogReleases ends = new AccessLogReleases(gate.permits());

  @Test
  void anEntryEndsTheLeaseThatItNamesOnce() {
    RequestPermit lease = Gated.lease(gate, LOGGED);
    tell(Kind.ANSWERED, lease);
    tell(Kind.ANSWERED, lease);
    assertThat(gated.ends).containsExactly(PermitEnd.ACCESS_LOG);
    assertThat(gated.stale).as("a log comes beside other ends").hasValue(0);
    assertThat(gate.permits().size()).isZero();
  }

  @Test
  void aLeaseThatWaitsForTheStreamsEndIsLeftAlone() {
    RequestPermit lease = Gated.lease(gate, STREAMED);
    tell(Kind.ANSWERED, lease);
    assertThat(gated.ends).isEmpty();
    gate.permits().end(lease.id(), PermitEnd.STREAM_DONE);
    assertThat(gated.ends).containsExactly(PermitEnd.STREAM_DONE);
  }

  @Test
  void timeoutsLowerTheLimitAndNoOtherFailureMovesIt() {
    for (Kind kind : Kind.values()) {
      if (kind.ends() && kind != Kind.ANSWERED && kind != Kind.TIMED_OUT) {
        tellMany(kind);
        assertThat(limit()).as("%s", kind).isEqualTo(10);
      }
    }
    tellMany(Kind.TIMED_OUT);
    assertThat(limit()).isLessThan(10);
    assertThat(gated.ends).containsOnly(PermitEnd.ACCESS_LOG);
    assertThat(gate.permits().size()).isZero();
  }

  @Test
  void timeoutsOfOneRouteOfTwoLeaveTheLimitAlone() {
    oneSlowRouteOfTwo();
    assertThat(limit()).isGreaterThanOrEqualTo(10);
  }

  /** A log may contain any names, and clusters beyond the maximum are judged as one. */
  @Test
  void entriesOfInventedLeasesKeepNoClusterFromBeingJudgedByItself() {
    for (int i = 0; i < 3_000; i++) {
      logged(Kind.TIMED_OUT, "invented-" + i, "fast", "invented");
    }
    oneSlowRouteOfTwo();
    assertThat(limit()).isGreaterThanOrEqualTo(10);
  }

  private void oneSlowRouteOfTwo() {
    for (int i = 0; i < 500; i++) {
      RequestPermit lease = Gated.lease(gate, LOGGED);
      time.advance(100);
      boolean slow = i > 100 && i % 5 == 0; // when each route has enough requests
      logged(slow ? Kind.TIMED_OUT : Kind.ANSWERED, "up", slow ? "slow" : "fast", lease.id());
    }
  }

  private void logged(Kind kind, String cluster, String route, String lease) {
    long rtt = kind.isSample() ? 20_000_000 : 0;
    ends.ended("edge", new Reading(kind, cluster, rtt, List.of(lease), true, route, ""), 0, 0);
  }

  @Test
  void aSampleIsWhatEnvoyMeasuredAndNotHowLateItsEntryCame() {
    // AIMD lowers the limit when a request takes twice as long as the shortest ones.
    for (int i = 0; i < 200; i++) {
      RequestPermit lease = Gated.lease(gate, LOGGED);
      time.advance(1_000);
      tell(Kind.ANSWERED, lease);
    }
    int calm = limit();
    for (int i = 0; i < 50; i++) {
      RequestPermit lease = Gated.lease(gate, LOGGED);
      time.advance(9_000); // only the log is late
      tell(Kind.ANSWERED, lease);
    }
    assertThat(limit()).isGreaterThanOrEqualTo(calm);
    for (int i = 0; i < 50; i++) {
      RequestPermit lease = Gated.lease(gate, LOGGED);
      time.advance(1_000);
      ends.ended("edge", reading(Kind.ANSWERED, 90_000_000, lease), 0, 0);
    }
    assertThat(limit()).isLessThan(calm);
  }

  @Test
  void bothLeasesOfARequestEnd() {
    RequestPermit authorized = Gated.lease(gate, LOGGED);
    RequestPermit limited = Gated.lease(gate, LOGGED);
    ends.ended(
        "edge",
        new Reading(
            Kind.CLIENT_LEFT, "up", 0, List.of(authorized.id(), limited.id()), true, "", ""),
        0,
        0);
    assertThat(gate.permits().size()).isZero();
  }

  /** Reports enough samples for several windows of the limit algorithm. */
  private void tellMany(Kind kind) {
    for (int i = 0; i < 50; i++) {
      RequestPermit lease = Gated.lease(gate, LOGGED);
      time.advance(100);
      tell(kind, lease);
    }
  }

  private void tell(Kind kind, RequestPermit lease) {
    ends.ended("edge", reading(kind, kind.isSample() ? 20_000_000 : 0, lease), 0, 0);
  }

  private static Reading reading(Kind kind, long rttNanos, RequestPermit lease) {
    return new Reading(kind, "up", rttNanos, List.of(lease.id()), true, "", "");
  }

  private int limit() {
    AtomicInteger limit = new AtomicInteger();
    gate.limits().forEach((_, figures) -> limit.set(figures.limit()));
    return limit.get();
  }
}
