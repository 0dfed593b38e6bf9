package io.throttlekit.bench.micro;

import io.grpc.Metadata;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.throttlekit.service.telemetry.traces.DecisionTracing;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * Measures how an unsampled request is recognized by its {@code traceparent}: what tracing costs
 * each request that is not traced. Ours also reads B3, but only where there is no {@code
 * traceparent}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TraceContextBenchmark extends ShortRuns {
  private static final Metadata.Key<String> PARENT = key("traceparent");
  private static final Metadata.Key<String> STATE = key("tracestate");

  /** Reads the two headers of the propagator, whose keys are made once. */
  private static final TextMapGetter<Metadata> GETTER =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Metadata carrier) {
          return List.of();
        }

        @Override
        public @Nullable String get(@Nullable Metadata carrier, String name) {
          return carrier == null ? null : carrier.get(name.equals(PARENT.name()) ? PARENT : STATE);
        }
      };

  private final DecisionTracing tracing = DecisionTracing.on(TracerProvider.noop().get("bench"), 0);
  private final Metadata headers = headers();

  /** Measures the service's own parser. */
  @Benchmark
  public @Nullable Object service() {
    return tracing.start(headers);
  }

  /** Measures OpenTelemetry's propagator. */
  @Benchmark
  public boolean propagator() {
    Context context =
        W3CTraceContextPropagator.getInstance().extract(Context.root(), headers, GETTER);
    return Span.fromContext(context).getSpanContext().isSampled();
  }

  /** Returns headers as Envoy sends them. */
  private static Metadata headers() {
    Metadata headers = new Metadata();
    headers.put(key("x-envoy-expected-rq-timeout-ms"), "100");
    headers.put(key("x-envoy-internal"), "true");
    headers.put(key("x-forwarded-for"), "192.0.2.17");
    headers.put(key("x-request-id"), "1f1f9b5f-52b2-4b0a-9e7e-0f4c2c5d9b7a");
    headers.put(PARENT, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
    return headers;
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
