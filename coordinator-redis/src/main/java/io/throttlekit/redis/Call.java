package io.throttlekit.redis;

import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletableFuture;

/**
 * One request to Redis and its pending answer.
 *
 * @param <T> the answer
 */
abstract class Call<T> extends DeadlineWheel.Entry {
  /** The answer, which fails at the deadline. */
  final CompletableFuture<T> answer = new CompletableFuture<>();

  /**
   * The answer without a deadline, for calls whose answer counts however late it arrives. For all
   * other calls it is {@link #answer} itself, so that a strict decision does not pay for a second
   * future.
   */
  final CompletableFuture<T> reply;

  /** The deadline, by the monotonic clock. */
  final long deadlineNanos;

  /** Whether the call has the lease deadline. */
  final boolean hasLeaseDeadline;

  /** The hash slot of its keys; {@link Slots#NONE} unless Redis is a Cluster. */
  final int slot;

  /**
   * Creates a call that fails at its deadline.
   *
   * @param hasLeaseDeadline whether that is the lease deadline
   * @param repeatable whether a repeated call takes effect once, so that its answer counts however
   *     late it arrives
   */
  Call(int slot, long deadlineNanos, boolean hasLeaseDeadline, boolean repeatable) {
    this.slot = slot;
    this.deadlineNanos = deadlineNanos;
    this.hasLeaseDeadline = hasLeaseDeadline;
    this.reply = repeatable ? new CompletableFuture<>() : answer;
  }

  /** Completes the call; has no effect if it is done. */
  final void complete(T value) {
    reply.complete(value);
    answer.complete(value); // no effect if both are the same future
  }

  /** Fails the call; returns whether the caller still waited. */
  final boolean fail(RuntimeException failure) {
    boolean waited = answer.completeExceptionally(failure);
    reply.completeExceptionally(failure);
    return waited;
  }

  /**
   * Returns whether the deadline passed before the call was sent. Such a call had no effect and
   * must not be sent any more.
   */
  final boolean isExpired() {
    boolean expired = answer.isDone();
    if (expired) {
      reply.completeExceptionally(StoreException.notSent("not sent in time"));
    }
    return expired;
  }
}
