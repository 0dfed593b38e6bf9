package io.throttlekit.service.telemetry.traces;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.service.telemetry.StoreTelemetry;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traces of a decision to the store, for each tier. */
class TracedStoreTest {
  private static final FixedWindow HUNDRED = new FixedWindow(100, 10_000);
  private static final CounterKey KEY = CounterKey.of("shop/10000", "user", "a");
  private static final Tier LEASED = new Tier.Leased(new LeaseSize.Fixed(8), true, 0, 0);

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final SdkTracerProvider tracers =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
  private final Tracer tracer = tracers.get("test");
  private final ManualTime time = new ManualTime(1_700_000_000_000L);
  private final InMemoryStore there = new InMemoryStore(time, 100);
  private final CounterStore traced = telemetry(tracer).traced(there, "redis://near");
  private final Tiers tiers =
      new Tiers(
          traced, time, (_, _) -> {}, new TierSettings(10, 1_000_000_000, 0), TierListener.NONE);

  @AfterEach
  void close() {
    tiers.close();
    tracers.close();
  }

  @Test
  void aStrictDecisionHasASpanOfItsCallToTheStore() {
    Span decide = tracer.spanBuilder("ratelimit.decide").startSpan();
    try (Scope _ = decide.makeCurrent()) {
      acquire(new Tier.Strict());
    }
    SpanData call = only("store.acquire");
    assertThat(call.getKind()).isEqualTo(SpanKind.CLIENT);
    assertThat(call.getParentSpanId()).isEqualTo(decide.getSpanContext().getSpanId());
    assertThat(call.getAttributes().get(AttributeKey.stringKey("throttlekit.store")))
        .isEqualTo("redis://near");
    assertThat(call.getAttributes().get(AttributeKey.stringArrayKey("throttlekit.counters")))
        .containsExactly(KEY.toString());
    assertThat(call.getAttributes().get(AttributeKey.booleanKey("throttlekit.admitted"))).isTrue();
  }

  @Test
  void aLeasedDecisionHasASpanOfItsLeaseAndTheNextOneHasNone() {
    Span decide = tracer.spanBuilder("ratelimit.decide").startSpan();
    try (Scope _ = decide.makeCurrent()) {
      acquire(LEASED);
      acquire(LEASED); // from memory
    }
    SpanData call = only("store.lease");
    assertThat(call.getParentSpanId()).isEqualTo(decide.getSpanContext().getSpanId());
    assertThat(call.getAttributes().get(AttributeKey.stringKey("throttlekit.counter")))
        .isEqualTo(KEY.toString());
    assertThat(number(call, "throttlekit.limit")).isEqualTo(100);
    assertThat(number(call, "throttlekit.requested_units")).isEqualTo(8);
    assertThat(number(call, "throttlekit.granted_units")).isEqualTo(8);
    assertThat(number(call, "throttlekit.remaining_units")).isEqualTo(92);
  }

  @Test
  void countersAreHashedWhereValuesMustNotBeShown() {
    TracedValues hashed = new TracedValues(false);
    CounterStore store =
        new StoreTelemetry(MeterProvider.noop().get("test"), tracer, hashed, new RedisPools())
            .traced(there, "redis://near");
    Span decide = tracer.spanBuilder("ratelimit.decide").startSpan();
    try (Scope _ = decide.makeCurrent()) {
      var _ = store.acquire(List.of(claim()), 0);
    }
    SpanData call = only("store.acquire");
    assertThat(call.getAttributes().get(AttributeKey.stringArrayKey("throttlekit.counters")))
        .containsExactly(hashed.of(KEY));
    assertThat(hashed.of(KEY)).matches("[0-9a-f]{16}");
  }

  @Test
  void aFailedCallNamesTheStoreAndTheReason() {
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    CounterStore away = telemetry(tracer).traced(new Waiting(answer), "redis://near");
    Span decide = tracer.spanBuilder("ratelimit.decide").startSpan();
    try (Scope _ = decide.makeCurrent()) {
      var _ = away.acquire(List.of(claim()));
    }
    answer.completeExceptionally(new StoreException("it is away", null));
    SpanData failed = only("store.acquire");
    assertThat(failed.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(failed.getStatus().getDescription()).isEqualTo("it is away");
    assertThat(failed.getAttributes().get(AttributeKey.stringKey("throttlekit.store")))
        .isEqualTo("redis://near");
  }

  @Test
  void callsOfAnUntracedRequestAreNotTracedAndWithoutTracingTheStoreIsTheSame() {
    acquire(new Tier.Strict());
    acquire(LEASED);
    assertThat(spans.getFinishedSpanItems()).isEmpty();
    assertThat(telemetry(TracerProvider.noop().get("any")).traced(there, "a")).isSameAs(there);
  }

  private void acquire(Tier tier) {
    TieredClaim claim =
        new TieredClaim(
            Role.ENFORCED,
            List.of(new Charge(KEY, HUNDRED, 1, Overrun.REFUSE)),
            DataLoss.REFILL,
            tier,
            Outage.DENY);
    Decided decided = new Decided();
    TieredOutcome known = tiers.acquire(List.of(claim), decided);
    assertThat(known != null || decided.isDecided).isTrue();
  }

  private static Claim claim() {
    return new Claim(Role.ENFORCED, List.of(new Charge(KEY, HUNDRED, 1, Overrun.REFUSE)));
  }

  private static StoreTelemetry telemetry(Tracer tracer) {
    return new StoreTelemetry(
        MeterProvider.noop().get("test"), tracer, TracedValues.PLAIN, new RedisPools());
  }

  private SpanData only(String name) {
    assertThat(spans.getFinishedSpanItems())
        .filteredOn(span -> !span.getName().equals("ratelimit.decide"))
        .extracting(SpanData::getName)
        .containsExactly(name);
    return spans.getFinishedSpanItems().getFirst();
  }

  private static Long number(SpanData span, String name) {
    return Objects.requireNonNull(span.getAttributes().get(AttributeKey.longKey(name)), name);
  }

  /** A store whose decision the test completes. */
  private record Waiting(CompletableFuture<Outcome> answer) implements CounterStore {
    @Override
    public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
      return answer;
    }

    @Override
    public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  private static final class Decided implements OutcomeCallback {
    boolean isDecided;

    @Override
    public void decided(TieredOutcome outcome) {
      isDecided = true;
    }

    @Override
    public void failed(StoreException cause) {
      throw new AssertionError(cause);
    }

    @Override
    public long waitTimeoutNanos() {
      return Long.MAX_VALUE;
    }
  }
}
