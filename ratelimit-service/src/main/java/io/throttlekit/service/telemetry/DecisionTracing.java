package io.throttlekit.service.telemetry;

import io.grpc.Metadata;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Begins the spans of decisions that are traced: those of callers that sample theirs, and a share
 * of those of callers that have none. Off, it neither allocates nor looks at a header. Thread-safe.
 */
public final class DecisionTracing {
  private static final String SPAN = "ratelimit.decide";

  private final @Nullable Tracer tracer;
  private final double ratio;
  private final DoubleSupplier random;

  private DecisionTracing(@Nullable Tracer tracer, double ratio, DoubleSupplier random) {
    this.tracer = tracer;
    this.ratio = ratio;
    this.random = random;
  }

  /** Traces nothing. */
  public static DecisionTracing off() {
    return new DecisionTracing(null, 0, () -> 1);
  }

  /**
   * Traces to {@code tracer}, whose sampler keeps what is begun.
   *
   * @param ratio share of the requests without a trace to begin one for, from 0 to 1
   */
  public static DecisionTracing on(Tracer tracer, double ratio) {
    return on(tracer, ratio, () -> ThreadLocalRandom.current().nextDouble());
  }

  /**
   * Chooses among the requests without a trace by {@code random}.
   *
   * @param random from 0 to below 1
   */
  static DecisionTracing on(Tracer tracer, double ratio, DoubleSupplier random) {
    return new DecisionTracing(tracer, ratio, random);
  }

  /** The span of a request; null when it is not traced. Malformed headers count as none. */
  public @Nullable DecisionSpan start(Metadata headers) {
    if (tracer == null) {
      return null;
    }
    TraceParent parent = TraceParent.of(headers);
    return switch (parent.sampled()) {
      case NO -> null;
      case YES -> begin(tracer, parent);
      case UNDECIDED -> random.getAsDouble() < ratio ? begin(tracer, parent) : null;
    };
  }

  private static DecisionSpan begin(Tracer tracer, TraceParent parent) {
    SpanBuilder span = tracer.spanBuilder(SPAN).setSpanKind(SpanKind.SERVER);
    if (parent.context().isValid()) {
      span.setParent(Context.root().with(Span.wrap(parent.context())));
    } else {
      span.setNoParent();
    }
    return new DecisionSpan(span.startSpan());
  }
}
