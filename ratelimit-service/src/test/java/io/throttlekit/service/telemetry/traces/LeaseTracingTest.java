package io.throttlekit.service.telemetry.traces;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.FederatedLimiter;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.InMemoryEscrow;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.service.server.CallTracing.CallSpan;
import io.throttlekit.service.telemetry.StoreTelemetry;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traces of a decision from the request through the region's store to the coordinator. */
class LeaseTracingTest {
  private static final FixedWindow HUNDRED = new FixedWindow(100, 10_000);
  private static final Tier.Global GLOBAL =
      new Tier.Global(
          new LeaseSize.Fixed(8),
          0,
          0,
          new Terms("shop", List.of(HUNDRED)),
          DataLoss.REFILL,
          false);

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final SdkTracerProvider tracers =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
  private final Tracer tracer = tracers.get("test");
  private final StoreTelemetry telemetry =
      new StoreTelemetry(
          MeterProvider.noop().get("test"), tracer, TracedValues.PLAIN, new RedisPools());
  private final ManualTime time = new ManualTime(1_700_000_000_000L);
  private final DeferredEscrow escrow = new DeferredEscrow(new InMemoryEscrow(time));
  private final FederatedLimiter limiter =
      new FederatedLimiter(
          new Federation(
              telemetry.traced(new InMemoryCoordinator(time), "redis://far"),
              telemetry.traced(escrow, "eu"),
              new Clocks(time, (_, _) -> {}),
              new FederationSettings("eu", "node", 2, 5_000),
              FederationListener.NONE),
          time,
          (_, _) -> {},
          new TierSettings(10, 1_000_000_000, 0),
          TierListener.NONE);

  @AfterEach
  void close() {
    limiter.close();
    tracers.close();
  }

  @Test
  void leasesAreChildSpansOfTheirRequestAcrossThreads() throws Exception {
    CallSpan decision = Objects.requireNonNull(DecisionTracing.on(tracer, 1).start(new Metadata()));
    CompletableFuture<Decision> answer = decision.around(this::requestDecision);
    Thread other = new Thread(() -> escrow.answer.complete(EscrowGrant.nothing(time.wallMillis())));
    other.start();
    other.join();
    assertThat(answer.join().admitted()).isTrue();
    decision.end();

    SpanData decide = span("ratelimit.decide");
    for (String name : List.of("escrow.lease", "coordinator.lease", "escrow.refill")) {
      SpanData part = span(name);
      assertThat(part.getTraceId()).as(name).isEqualTo(decide.getTraceId());
      assertThat(part.getParentSpanId()).as(name).isEqualTo(decide.getSpanId());
    }
    assertThat(number(span("escrow.lease"), "throttlekit.granted_units")).isZero();
    SpanData far = span("coordinator.lease");
    assertThat(far.getAttributes().get(AttributeKey.stringKey("throttlekit.coordinator")))
        .isEqualTo("redis://far");
    assertThat(number(far, "throttlekit.requested_units")).isEqualTo(16);
    assertThat(number(far, "throttlekit.granted_units")).isEqualTo(16);
    assertThat(number(far, "throttlekit.limit")).isEqualTo(100);
    assertThat(number(span("escrow.refill"), "throttlekit.units")).isEqualTo(8);
  }

  @Test
  void aFailedCallRecordsItsReason() {
    CallSpan decision = Objects.requireNonNull(DecisionTracing.on(tracer, 1).start(new Metadata()));
    CompletableFuture<Decision> answer = decision.around(this::requestDecision);
    escrow.answer.completeExceptionally(new StoreException("it is away", null));
    assertThat(answer.join().admitted()).isTrue();

    SpanData near = span("escrow.lease");
    assertThat(near.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(near.getStatus().getDescription()).isEqualTo("it is away");
    assertThat(span("coordinator.lease").getTraceId()).isEqualTo(near.getTraceId());
  }

  @Test
  void callsOfAnUntracedRequestAreNotTraced() {
    CompletableFuture<Decision> answer = requestDecision();
    escrow.answer.complete(EscrowGrant.nothing(time.wallMillis()));
    assertThat(answer.join().admitted()).isTrue();
    assertThat(spans.getFinishedSpanItems()).isEmpty();
  }

  private CompletableFuture<Decision> requestDecision() {
    CounterKey key = CounterKey.of("shop/10000", "user", "a");
    return limiter.charge(key, HUNDRED, GLOBAL, 1, Outage.DENY).toCompletableFuture();
  }

  private SpanData span(String name) {
    return spans.getFinishedSpanItems().stream()
        .filter(span -> span.getName().equals(name))
        .findAny()
        .orElseThrow(() -> new AssertionError("no span " + name));
  }

  private static @Nullable Long number(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.longKey(name));
  }

  /** An escrow whose first answer the test completes. */
  private static final class DeferredEscrow implements RegionalEscrow {
    final CompletableFuture<EscrowGrant> answer = new CompletableFuture<>();
    private final RegionalEscrow there;

    DeferredEscrow(RegionalEscrow there) {
      this.there = there;
    }

    @Override
    public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
      return answer;
    }

    @Override
    public CompletionStage<Boolean> refill(EscrowRefill refill) {
      return there.refill(refill);
    }

    @Override
    public CompletionStage<Long> release(
        CounterKey key, long windowEndMillis, @Nullable CallId id) {
      return there.release(key, windowEndMillis, id);
    }

    @Override
    public CompletionStage<Long> health() {
      return there.health();
    }

    @Override
    public void close() {
      there.close();
    }
  }
}
