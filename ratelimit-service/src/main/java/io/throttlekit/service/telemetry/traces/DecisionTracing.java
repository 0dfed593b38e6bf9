package io.throttlekit.service.telemetry.traces;

import io.grpc.Metadata;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.Clock;
import io.throttlekit.service.server.CallTracing;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Starts the spans of decisions: for sampled callers, and for a fraction of the callers without a
 * trace. Thread-safe.
 */
public final class DecisionTracing implements CallTracing {
  private static final String SPAN = "ratelimit.decide";
  private static final SpanContents DEFAULT =
      new SpanContents(TracedValues.PLAIN, (_, _) -> null, false);

  private final Tracer tracer;
  private final double ratio;
  private final DoubleSupplier random;
  private final SpanContents contents;
  private final Clock clock;

  /**
   * Creates an instance that selects requests without a trace by {@code random}.
   *
   * @param random from 0 to below 1
   * @param clock of the tracer
   */
  DecisionTracing(Tracer tracer, double ratio, DoubleSupplier random, Clock clock) {
    this(tracer, ratio, random, DEFAULT, clock);
  }

  private DecisionTracing(
      Tracer tracer, double ratio, DoubleSupplier random, SpanContents contents, Clock clock) {
    this.tracer = tracer;
    this.ratio = ratio;
    this.random = random;
    this.contents = contents;
    this.clock = clock;
  }

  /**
   * Returns an instance that traces to {@code tracer}, whose sampler must keep every span and whose
   * clock is the default.
   *
   * @param ratio fraction of the requests without a trace to start one for, from 0 to 1
   */
  public static DecisionTracing on(Tracer tracer, double ratio) {
    return new DecisionTracing(
        tracer, ratio, () -> ThreadLocalRandom.current().nextDouble(), Clock.getDefault());
  }

  /** Returns an instance whose spans have other contents. */
  public DecisionTracing with(SpanContents other) {
    return new DecisionTracing(tracer, ratio, random, other, clock);
  }

  @Override
  public @Nullable CallSpan start(Metadata headers) {
    TraceParent parent = TraceParent.of(headers);
    return switch (parent.sampled()) {
      case NO -> null;
      case YES -> begin(parent);
      case UNDECIDED -> random.getAsDouble() < ratio ? begin(parent) : null;
    };
  }

  private DecisionSpan begin(TraceParent parent) {
    SpanBuilder span = tracer.spanBuilder(SPAN).setSpanKind(SpanKind.SERVER);
    if (parent.context().isValid()) {
      span.setParent(Context.root().with(Span.wrap(parent.context())));
    } else {
      span.setNoParent();
    }
    return new DecisionSpan(span.startSpan(), contents, clock);
  }
}
