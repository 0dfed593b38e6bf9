package io.throttlekit.concurrency;

import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells those who waited what became of them, on the thread that answered them, one after the
 * other: who gives its permit back while it is told lets the next one in, and would tell it from
 * within, as deep as the line is long. Thread-safe.
 */
final class Tellings {
  private final Consumer<Refusal> refusals;

  @SuppressWarnings("ThreadLocalUsage") // of each limiter; empty but for while a thread tells
  private final ThreadLocal<@Nullable ArrayDeque<Waiter>> untold = new ThreadLocal<>();

  /**
   * @param refusals is told of each that was refused
   */
  Tellings(Consumer<Refusal> refusals) {
    this.refusals = refusals;
  }

  void tell(List<Waiter> answered) {
    if (answered.isEmpty()) {
      return;
    }
    ArrayDeque<Waiter> outer = untold.get();
    if (outer != null) {
      outer.addAll(answered);
      return;
    }
    ArrayDeque<Waiter> own = new ArrayDeque<>(answered);
    untold.set(own);
    try {
      for (Waiter next = own.poll(); next != null; next = own.poll()) {
        Refusal refusal = next.tell();
        if (refusal != null) {
          refusals.accept(refusal);
        }
      }
    } finally {
      untold.remove();
    }
  }

  /** Shows an exception of somebody who was told, without breaking what the teller is about. */
  static void report(Throwable bug) {
    Thread thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, bug);
  }
}
