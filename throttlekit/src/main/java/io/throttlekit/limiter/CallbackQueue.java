package io.throttlekit.limiter;

import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notifies the callbacks of queued requests on the thread that answered them, one after the other.
 * Without this, a callback that releases its permit would admit and notify the next request from
 * within, and the call stack would grow as deep as the queue is long. Thread-safe.
 */
final class CallbackQueue {
  private final Consumer<Refusal> refusals;

  @SuppressWarnings("ThreadLocalUsage") // one for each limiter; set only while a thread notifies
  private final ThreadLocal<@Nullable ArrayDeque<QueuedRequest>> pending = new ThreadLocal<>();

  /**
   * @param refusals called for each request that was refused
   */
  CallbackQueue(Consumer<Refusal> refusals) {
    this.refusals = refusals;
  }

  /** Notifies a callback at once. A permit whose callback throws is released. */
  static void admit(Permit permit, PermitCallback callback) {
    try {
      callback.admitted(permit);
    } catch (Throwable bug) {
      permit.release();
      throw bug;
    }
  }

  void deliver(List<QueuedRequest> answered) {
    if (answered.isEmpty()) {
      return;
    }
    ArrayDeque<QueuedRequest> outer = pending.get();
    if (outer != null) {
      // This thread is within a callback: the outer loop notifies these, too.
      outer.addAll(answered);
      return;
    }
    ArrayDeque<QueuedRequest> own = new ArrayDeque<>(answered);
    pending.set(own);
    try {
      for (QueuedRequest next = own.poll(); next != null; next = own.poll()) {
        Refusal refusal = next.notifyCallback();
        if (refusal != null) {
          refusals.accept(refusal);
        }
      }
    } finally {
      pending.remove();
    }
  }

  /** Reports an exception of a callback or listener without interrupting the caller. */
  static void report(Throwable bug) {
    Thread thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, bug);
  }
}
