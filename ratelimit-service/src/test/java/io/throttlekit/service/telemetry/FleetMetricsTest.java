package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.Book;
import io.throttlekit.share.FleetFigures;
import io.throttlekit.store.StoreException;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FleetMetricsTest {
  private final ManualTime time = new ManualTime(0);
  private final PolicyBook book =
      Book.of("domain: d\ndescriptors: [{key: a, concurrency: {}}, {key: b, concurrency: {}}]\n");
  private final Rule one = book.rules().getFirst();
  private final Rule other = book.rules().getLast();
  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());

  @AfterEach
  void stop() {
    telemetry.close();
  }

  @Test
  void logsThatARuleIsFencedOnceInTenSecondsWithTheReason() {
    try (Logged logged = Logged.by(FleetMetrics.class)) {
      FleetMetrics metrics =
          new FleetMetrics(telemetry.meter(), telemetry.tracer(), time, Runnable::run);
      assertThat(metrics.fenced(one, "connection refused", 0)).isTrue();
      assertThat(metrics.fenced(one, "connection refused", 0)).as("another limit of it").isTrue();
      assertThat(metrics.fenced(other, "", 0)).isTrue();
      assertThat(metrics.unfenced(one, 0)).isTrue();
      assertThat(metrics.unfenced(one, 0)).isTrue();
      assertThat(logged.lines())
          .containsExactly(
              "WARNING concurrency limits of a in domain d refuse all requests, as the store does"
                  + " not answer: connection refused",
              "WARNING concurrency limits of b in domain d refuse all requests, as the store does"
                  + " not answer: no answer yet",
              "INFO concurrency limits of a in domain d admit requests again");
      time.advance(10_000);
      assertThat(metrics.fenced(one, "", time.monotonicNanos())).isTrue();
      assertThat(logged.lines()).hasSize(4);
    }
  }

  @Test
  void logsAnOutageThatBeginsWithinTenSecondsOfTheLastWarningAfterThese() {
    try (Logged logged = Logged.by(FleetMetrics.class)) {
      FleetMetrics metrics =
          new FleetMetrics(telemetry.meter(), telemetry.tracer(), time, Runnable::run);
      assertThat(metrics.fenced(one, "", 0)).isTrue();
      assertThat(metrics.unfenced(one, 0)).isTrue();
      time.advance(5_000);
      long since = time.monotonicNanos();
      assertThat(metrics.fenced(one, "", since)).isFalse();
      time.advance(4_999);
      assertThat(metrics.fenced(one, "", since)).isFalse();
      assertThat(logged.lines()).hasSize(2);
      time.advance(1);
      assertThat(metrics.fenced(one, "timeout", since)).isTrue();
      assertThat(logged.lines()).hasSize(3).last().asString().endsWith(": timeout");
      time.advance(1_000);
      assertThat(metrics.fenced(one, "", since)).as("another limit of the rule").isTrue();
      assertThat(logged.lines()).hasSize(3);
    }
  }

  @Test
  void aWarningThatTheLogWasTooSlowForIsWrittenLater() {
    try (Logged logged = Logged.by(FleetMetrics.class)) {
      boolean[] isFull = {true};
      FleetMetrics metrics =
          new FleetMetrics(
              telemetry.meter(),
              telemetry.tracer(),
              time,
              line -> {
                if (isFull[0]) {
                  throw new RejectedExecutionException();
                }
                line.run();
              });
      assertThat(metrics.fenced(one, "", 0)).isFalse();
      isFull[0] = false;
      time.advance(1_000);
      assertThat(metrics.fenced(one, "", 0)).isTrue();
      assertThat(logged.lines()).hasSize(1);
    }
  }

  @Test
  void namesTheLastFailedVisitOfTheSameOutageOnly() {
    try (Logged logged = Logged.by(FleetMetrics.class)) {
      FleetMetrics metrics =
          new FleetMetrics(telemetry.meter(), telemetry.tracer(), time, Runnable::run);
      metrics.visitFailed("timeout");
      metrics.cutOff();
      metrics.reachable();
      metrics.cutOff();
      assertThat(logged.lines().getFirst()).endsWith(": timeout");
      assertThat(logged.lines().getLast()).endsWith(": no answer");
    }
  }

  @Test
  void namesAnIdThatTwoProcessesHaveOnce() {
    try (Logged logged = Logged.by(FleetMetrics.class)) {
      FleetMetrics metrics =
          new FleetMetrics(telemetry.meter(), telemetry.tracer(), time, Runnable::run);
      metrics.sameNode("pod-1");
      metrics.sameNode("pod-1");
      assertThat(logged.lines())
          .singleElement()
          .asString()
          .startsWith("WARNING another process has the node id pod-1, too")
          .endsWith("concurrency.node_id");
    }
  }

  @Test
  void dropsLinesThatTheLogIsTooSlowFor() {
    FleetMetrics metrics =
        new FleetMetrics(
            telemetry.meter(),
            telemetry.tracer(),
            time,
            _ -> {
              throw new RejectedExecutionException();
            });
    assertThat(metrics.fenced(one, "", 0)).isFalse();
    assertThat(metrics.unfenced(one, 0)).isFalse();
    metrics.sameNode("pod-1");
  }

  @Test
  void countsFailedHeartbeatsAndAddsUpTheLimitsOfARule() throws IOException {
    FleetMetrics metrics = new FleetMetrics(telemetry.meter(), telemetry.tracer(), time, _ -> {});
    metrics.heartbeatFailed(new StoreException("late", null));
    metrics.heartbeatFailed(new StoreException("late", null));
    LimitGauges.showShares(
        telemetry.meter(),
        reader -> {
          reader.accept(one, new FleetFigures(3, 10, 2, false, "x", 7, false));
          reader.accept(one, new FleetFigures(0, 8, 3, true, "y", 0, false));
          reader.accept(other, new FleetFigures(5, 5, 1, false, "x", 1, false));
        });
    assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
        .contains(
            "throttlekit_concurrency_heartbeat_failures_total 2.0",
            "throttlekit_concurrency_share{domain=\"d\",rule=\"a\"} 3.0",
            "throttlekit_concurrency_fleet_limit{domain=\"d\",rule=\"a\"} 18.0",
            "throttlekit_concurrency_nodes{domain=\"d\",rule=\"a\"} 5.0",
            "throttlekit_concurrency_steering{domain=\"d\",rule=\"a\"} 1.0",
            "throttlekit_concurrency_fenced{domain=\"d\",rule=\"a\"} 1.0",
            "throttlekit_concurrency_share{domain=\"d\",rule=\"b\"} 5.0");
  }

  @Test
  void tracesEachChangeOfThePartOfThisReplica() {
    InMemorySpanExporter spans = InMemorySpanExporter.create();
    try (SdkTracerProvider tracers =
        SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build()) {
      FleetMetrics metrics =
          new FleetMetrics(telemetry.meter(), tracers.get("test"), time, Runnable::run);
      metrics.began(7);
      metrics.cutOff();
      metrics.ended();
      metrics.reachable();
      assertThat(metrics.fenced(one, "", 0)).isTrue();
      assertThat(metrics.unfenced(one, 0)).isTrue();
      assertThat(spans.getFinishedSpanItems())
          .allMatch(span -> span.getName().equals("ratelimit.replica"))
          .flatExtracting(SpanData::getEvents)
          .extracting(
              event -> event.getName() + " " + List.copyOf(event.getAttributes().asMap().values()))
          .containsExactly(
              "steering began [7]",
              "cut off []",
              "steering ended []",
              "reachable []",
              "fenced [d, a]",
              "unfenced [d, a]");
    }
  }
}
