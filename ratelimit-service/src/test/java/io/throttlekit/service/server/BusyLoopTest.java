package io.throttlekit.service.server;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.server.RawConnection.Frame;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.Scrape;
import io.throttlekit.service.telemetry.Telemetry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests requests that wait while the only event loop is busy with another; the test moves the
 * clock.
 */
class BusyLoopTest {
  private static final Map<String, String> WAITS_20_MS =
      Map.of("x-envoy-expected-rq-timeout-ms", "20");
  private static final byte[] FIRST = x(entries("zero", "first")).toByteArray();
  private static final byte[] SECOND = x(entries("zero", "second")).toByteArray();

  private final ManualTime time = new ManualTime(Setup.NOW);
  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final RateLimitMetrics metrics =
      new RateLimitMetrics(telemetry.meter(), () -> null, () -> 0, () -> 0, .8, 10);
  private final AtomicInteger decided = new AtomicInteger();
  private final CountDownLatch deciding = new CountDownLatch(1);
  private final CountDownLatch resume = new CountDownLatch(1);
  private final GrpcServer server = server();

  @AfterEach
  void stop() {
    resume.countDown();
    server.stop();
    telemetry.close();
  }

  @Test
  void aRequestThatTimedOutInABusyLoopIsShed() throws Exception {
    assertThat(decidedAfter(15, WAITS_20_MS)).isEqualTo(1);
    assertThat(counted("throttlekit_shed_requests_total")).isEqualTo(1);
    assertThat(counted("throttlekit_abandoned_requests_total{kind=\"answered_late\"}")).isZero();
  }

  @Test
  void aRequestWithRemainingTimeIsDecided() throws Exception {
    assertThat(decidedAfter(14, WAITS_20_MS)).isEqualTo(2);
    assertThat(counted("throttlekit_shed_requests_total")).isZero();
  }

  @Test
  void aGrpcDeadlineCountsLikeEnvoysTimeout() throws Exception {
    assertThat(decidedAfter(60_000, Map.of("grpc-timeout", "40S"))).isEqualTo(1);
    assertThat(counted("throttlekit_shed_requests_total")).isEqualTo(1);
  }

  @Test
  void aRequestWithoutATimeoutIsDecidedAtAnyAge() throws Exception {
    assertThat(decidedAfter(60_000, Map.of())).isEqualTo(2);
  }

  @Test
  void anAnswerSentAfterTheCallersTimeoutIsCounted() throws Exception {
    try (RawConnection busy = connected()) {
      busy.beginCall(1, WAITS_20_MS);
      busy.ask(1, FIRST);
      deciding.await();
      time.advance(20);
      resume.countDown();
      busy.await(Frame::endsCall);
      busy.ping(); // answered after the loop has written the answer
      busy.await(Frame::isAnswerToPing);
    }
    assertThat(counted("throttlekit_abandoned_requests_total{kind=\"answered_late\"}"))
        .isEqualTo(1);
    assertThat(counted("throttlekit_shed_requests_total")).isZero();
  }

  @Test
  void aCallIsInFlightUntilItIsAnswered() throws Exception {
    try (RawConnection busy = connected()) {
      assertThat(server.callsInProgress()).isZero();
      busy.beginCall(1, Map.of());
      busy.ask(1, FIRST);
      deciding.await();
      assertThat(server.callsInProgress()).isEqualTo(1);
      resume.countDown();
      busy.await(Frame::endsCall);
      busy.ping(); // answered after the call was closed
      busy.await(Frame::isAnswerToPing);
      assertThat(server.callsInProgress()).isZero();
    }
  }

  /** Returns how many of two requests were decided when the second waited so long for the first. */
  private int decidedAfter(long millis, Map<String, String> second) throws Exception {
    try (RawConnection busy = connected();
        RawConnection waiting = connected()) {
      busy.beginCall(1, Map.of());
      busy.ask(1, FIRST);
      deciding.await();
      waiting.beginCall(1, second);
      waiting.ask(1, SECOND);
      time.advance(millis);
      resume.countDown();
      busy.await(Frame::endsCall);
      waiting.await(Frame::endsCall);
    }
    return decided.get();
  }

  private RawConnection connected() throws IOException {
    RawConnection connection = new RawConnection(server);
    connection.ping();
    connection.await(Frame::isAnswerToPing); // assigned to its event loop by now
    return connection;
  }

  private GrpcServer server() {
    RateLimitFrontEnd frontEnd =
        new RateLimitFrontEnd(
            (_, _) -> {
              decided.incrementAndGet();
              deciding.countDown();
              awaitResume();
              return new Answer(true, List.of(Verdict.UNTOUCHED));
            },
            Setup.BARE,
            Setup.NATIVE,
            Setup.limits());
    CallHandler service = CallHandler.ofRateLimits(frontEnd, metrics, null, time);
    GrpcConfig d = Setup.loopback();
    GrpcConfig config =
        new GrpcConfig(
            d.host(),
            0,
            null,
            null,
            d.connectionAge(),
            d.keepAlive(),
            d.limits(),
            1,
            d.drain(),
            false);
    GrpcServer listening =
        new GrpcServer(config, service, List.of(), new Health(), null, Duration.ofSeconds(1));
    listening.start();
    return listening;
  }

  /** Blocks the event loop on purpose. */
  private void awaitResume() {
    try {
      assertThat(resume.await(5, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private double counted(String series) throws IOException {
    Scrape scrape = Objects.requireNonNull(telemetry.scrape());
    return scrape
        .page(null)
        .body()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .sum();
  }
}
