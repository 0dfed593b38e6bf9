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

/** Spans of the calls made for a traced request; none for other requests. Thread-safe. */
final class ClientSpans {
  private ClientSpans() {}

  /**
   * Runs a call, in a child span if the current span is recording. Stages that depend on the answer
   * run in the current context, so that their calls become siblings.
   *
   * @param name of the span
   * @param record writes the answer to the span
   */
  static <T> CompletionStage<T> around(
      Tracer tracer, String name, BiConsumer<Span, T> record, Supplier<CompletionStage<T>> call) {
    Context caller = Context.current();
    if (!Span.fromContext(caller).isRecording()) {
      return call.get();
    }
    Span span = tracer.spanBuilder(name).setParent(caller).setSpanKind(SpanKind.CLIENT).startSpan();
    CompletableFuture<T> answer = new CompletableFuture<>();
    call.get()
        .whenComplete((value, failure) -> {
          if (failure == null) {
            record.accept(span, value);
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
