package io.throttlekit.service.telemetry.traces;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Starts spans of calls to stores and coordinators, of traced requests only. Thread-safe. */
public record ClientSpans(Tracer tracer) {

  /**
   * Runs a call, in a child span if the current span is recording. Stages that depend on the answer
   * run in the current context, so that their calls become siblings.
   *
   * @param name of the span
   * @param asked writes the question to the span
   * @param answered writes the answer to the span
   */
  public <T> CompletionStage<T> inSpan(
      String name,
      Consumer<Span> asked,
      BiConsumer<Span, T> answered,
      Supplier<CompletionStage<T>> call) {
    Context caller = Context.current();
    if (!Span.fromContext(caller).isRecording()) {
      return call.get();
    }
    Span span = tracer.spanBuilder(name).setParent(caller).setSpanKind(SpanKind.CLIENT).startSpan();
    asked.accept(span);
    CompletableFuture<T> answer = new CompletableFuture<>();
    call.get()
        .whenComplete((value, failure) -> {
          if (failure == null) {
            answered.accept(span, value);
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

  /** Records a grant of leased units. */
  public static void recordGrant(Span span, long units, long left, long windowEndMillis) {
    span.setAttribute("throttlekit.granted_units", units);
    span.setAttribute("throttlekit.remaining_units", left);
    span.setAttribute("throttlekit.window_end_ms", windowEndMillis);
  }
}
