package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.telemetry.StoreTelemetry;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.telemetry.traces.TracedValues;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A decision that needs an external store has a span of its call, also if there is no store. */
class SharedStoreTracingTest {
  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final SdkTracerProvider tracers =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
  private final Tracer tracer = tracers.get("test");

  @Test
  void aCallToTheStoreIsPartOfTheTraceOfItsRequest() {
    StoreConfig base = ConfigLoader.defaults().store();
    StoreConfig config =
        new StoreConfig(
            new StoreAddress.Standalone(false, new StoreAddress.Node("127.0.0.1", 1), 0),
            base.access(),
            base.keyPrefix(),
            base.maxCounters(),
            base.deadlines(),
            base.breaker(),
            base.maxLeaseCells(),
            base.localShare(),
            base.cachedDenyDefault(),
            null);
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    Span decide = tracer.spanBuilder("ratelimit.decide").startSpan();
    try (SharedStore store =
            new SharedStore(
                config,
                null,
                loops,
                new StoreTelemetry(
                    MeterProvider.noop().get("test"), tracer, TracedValues.PLAIN, new RedisPools()),
                TimeSource.system(),
                _ -> {});
        Scope _ = decide.makeCurrent()) {
      assertThat(acquire(store).admitted()).as("on_outage: deny").isFalse();
    } finally {
      var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
    SpanData call = spans.getFinishedSpanItems().getFirst();
    assertThat(call.getName()).isEqualTo("store.acquire");
    assertThat(call.getParentSpanId()).isEqualTo(decide.getSpanContext().getSpanId());
    assertThat(call.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(call.getAttributes().get(AttributeKey.stringKey("throttlekit.store")))
        .isEqualTo("redis://127.0.0.1:1");
    tracers.close();
  }

  private static TieredOutcome acquire(SharedStore store) {
    Charge charge = new Charge(CounterKey.of("a"), new FixedWindow(2, 1_000), 1, Overrun.REFUSE);
    TieredClaim claim =
        new TieredClaim(
            new Claim(Claim.Role.ENFORCED, List.of(charge)), new Tier.Strict(), Outage.DENY);
    CompletableFuture<TieredOutcome> later = new CompletableFuture<>();
    TieredOutcome now = store.tiers().acquire(List.of(claim), new Waiting(later));
    return now != null ? now : later.join();
  }

  private record Waiting(CompletableFuture<TieredOutcome> future) implements OutcomeCallback {
    @Override
    public void decided(TieredOutcome outcome) {
      future.complete(outcome);
    }

    @Override
    public void failed(StoreException cause) {
      future.completeExceptionally(cause);
    }

    @Override
    public long waitTimeoutNanos() {
      return Long.MAX_VALUE;
    }
  }
}
