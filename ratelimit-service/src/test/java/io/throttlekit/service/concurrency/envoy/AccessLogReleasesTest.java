package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.concurrency.RecordingConcurrencyListener;
import io.throttlekit.service.concurrency.RequestPermit;
import io.throttlekit.service.concurrency.StreamReport;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AccessLogReleasesTest {
  private static final String LOGGED =
      "algorithm: aimd, min: 1, max: 100, initial: 10, lease: {release: access_log,"
          + " flush_interval: 0, service_time: 20ms}";
  private static final String STREAMED = "min: 1, max: 100";

  private final ManualTime time = new ManualTime(0);
  private final RecordingConcurrencyListener limiterEvents = new RecordingConcurrencyListener();
  private final ConcurrencyLimiter limiter =
      new ConcurrencyLimiter(time, (_, _) -> {}, limiterEvents, () -> 1_000);
  private final AccessLogReleases ends = new AccessLogReleases(limiter.permits());

  @Test
  void anEntryEndsItsLeaseOnce() {
    RequestPermit lease = RecordingConcurrencyListener.lease(limiter, LOGGED);
    report(Kind.ANSWERED, lease);
    report(Kind.ANSWERED, lease);
    assertThat(limiterEvents.ends).containsExactly(PermitEnd.ACCESS_LOG);
    assertThat(limiterEvents.stale).as("a log comes beside other ends").hasValue(0);
    assertThat(limiter.permits().size()).isZero();
  }

  @Test
  void aLeaseReleasedByStreamDoneIsIgnored() {
    RequestPermit lease = RecordingConcurrencyListener.lease(limiter, STREAMED);
    report(Kind.ANSWERED, lease);
    assertThat(limiterEvents.ends).isEmpty();
    limiter.permits().streamDone(lease.id(), StreamReport.NONE);
    assertThat(limiterEvents.ends).containsExactly(PermitEnd.STREAM_DONE);
  }

  @Test
  void onlyTimeoutsLowerTheLimit() {
    for (Kind kind : Kind.values()) {
      if (kind.ends() && kind != Kind.ANSWERED && kind != Kind.TIMED_OUT) {
        reportMany(kind);
        assertThat(limit()).as("%s", kind).isEqualTo(10);
      }
    }
    reportMany(Kind.TIMED_OUT);
    assertThat(limit()).isLessThan(10);
    assertThat(limiterEvents.ends).containsOnly(PermitEnd.ACCESS_LOG);
    assertThat(limiter.permits().size()).isZero();
  }

  @Test
  void timeoutsOfOneRouteOfTwoDoNotChangeTheLimit() {
    oneSlowRouteOfTwo();
    assertThat(limit()).isGreaterThanOrEqualTo(10);
  }

  /** A log may contain any names, and clusters beyond the maximum are judged as one. */
  @Test
  void inventedLeaseIdsDoNotMixEvidenceOfClusters() {
    for (int i = 0; i < 3_000; i++) {
      logged(Kind.TIMED_OUT, "invented-" + i, "fast", "invented");
    }
    oneSlowRouteOfTwo();
    assertThat(limit()).isGreaterThanOrEqualTo(10);
  }

  private void oneSlowRouteOfTwo() {
    for (int i = 0; i < 500; i++) {
      RequestPermit lease = RecordingConcurrencyListener.lease(limiter, LOGGED);
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
  void aSampleDoesNotIncludeTheDelayOfItsEntry() {
    // AIMD lowers the limit when a request takes twice as long as the shortest ones.
    for (int i = 0; i < 200; i++) {
      RequestPermit lease = RecordingConcurrencyListener.lease(limiter, LOGGED);
      time.advance(1_000);
      report(Kind.ANSWERED, lease);
    }
    int calm = limit();
    for (int i = 0; i < 50; i++) {
      RequestPermit lease = RecordingConcurrencyListener.lease(limiter, LOGGED);
      time.advance(9_000); // only the log is late
      report(Kind.ANSWERED, lease);
    }
    assertThat(limit()).isGreaterThanOrEqualTo(calm);
    for (int i = 0; i < 50; i++) {
      RequestPermit lease = RecordingConcurrencyListener.lease(limiter, LOGGED);
      time.advance(1_000);
      ends.ended("edge", reading(Kind.ANSWERED, 90_000_000, lease), 0, 0);
    }
    assertThat(limit()).isLessThan(calm);
  }

  @Test
  void bothLeasesOfARequestEnd() {
    RequestPermit authorized = RecordingConcurrencyListener.lease(limiter, LOGGED);
    RequestPermit limited = RecordingConcurrencyListener.lease(limiter, LOGGED);
    ends.ended(
        "edge",
        new Reading(
            Kind.CLIENT_LEFT, "up", 0, List.of(authorized.id(), limited.id()), true, "", ""),
        0,
        0);
    assertThat(limiter.permits().size()).isZero();
  }

  /** Reports enough samples for several windows of the limit algorithm. */
  private void reportMany(Kind kind) {
    for (int i = 0; i < 50; i++) {
      RequestPermit lease = RecordingConcurrencyListener.lease(limiter, LOGGED);
      time.advance(100);
      report(kind, lease);
    }
  }

  private void report(Kind kind, RequestPermit lease) {
    ends.ended("edge", reading(kind, kind.isSample() ? 20_000_000 : 0, lease), 0, 0);
  }

  private static Reading reading(Kind kind, long rttNanos, RequestPermit lease) {
    return new Reading(kind, "up", rttNanos, List.of(lease.id()), true, "", "");
  }

  private int limit() {
    AtomicInteger limit = new AtomicInteger();
    limiter.limits().forEach((_, figures) -> limit.set(figures.limit()));
    return limit.get();
  }
}
