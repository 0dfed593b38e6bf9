package io.throttlekit.service.telemetry;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Spans of calls that a traced request causes; nothing for others. Thread-safe. */
final class FarSpans {
  private FarSpans() {}

  /**
   * Calls, in a span of its own if what runs now is traced. What follows on the answer runs in what
   * is traced now, so that what it calls is a sibling.
   *
   * @param name of the span
   * @param tell writes the answer into the span
   */
  static <T> CompletionStage<T> around(
      Tracer tracer, String name, BiConsumer<Span, T> tell, Supplier<CompletionStage<T>> call) {
    Context caller = Context.current();
    if (!Span.fromContext(caller).isRecording()) {
      return call.get();
    }
    Span span = tracer.spanBuilder(name).setParent(caller).setSpanKind(SpanKind.CLIENT).startSpan();
    CompletableFuture<T> answer = new CompletableFuture<>();
    call.get()
        .whenComplete((value, failure) -> {
          if (failure == null) {
            tell.accept(span, value);
          } else {
            span.setStatus(StatusCode.ERROR, String.valueOf(failure.getMessage()));
          }
          span.end();
          try (Scope _ = caller.makeCurrent()) {
            if (failure == null) {
              answer.complete(value);
            } else {
              answer.completeExceptionally(failure);
            }
          }
        });
    return answer;
  }
}
