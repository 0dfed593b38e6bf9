package io.throttlekit.service.server;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.concurrency.RequestPermit;
import io.throttlekit.service.loop.HeldCall;
import io.throttlekit.service.loop.LoopThread;
import io.throttlekit.service.rls.CallListener.Abandonment;
import io.throttlekit.service.rls.CallListener.Failure;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.server.CallTracing.CallSpan;
import io.throttlekit.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * One call in progress, ended exactly once, with an answer or an error.
 *
 * <p>No answer is sent to a caller that has cancelled. Its units stay charged, but its permit in
 * flight is released, because Envoy did not forward the request. The answer may come on any thread
 * while the cancellation comes on the event loop: only the thread that sets {@code ended} ends the
 * call.
 */
final class RateLimitCall extends ServerCall.Listener<InputStream> implements AnswerCallback {
  /** The value of {@link #startNanos} before a message arrived. */
  private static final long NOT_STARTED = Long.MIN_VALUE;

  // States of a call; they only increase, through ENDED.
  private static final int OPEN = 0;
  private static final int ANSWERED = 1;

  /** Counted as abandoned, shed or failed, whether or not it was answered: not counted again. */
  private static final int COUNTED = 2;

  private static final AtomicReferenceFieldUpdater<RateLimitCall, @Nullable Runnable> WHEN_GONE =
      AtomicReferenceFieldUpdater.newUpdater(RateLimitCall.class, Runnable.class, "onCancelled");
  private static final AtomicIntegerFieldUpdater<RateLimitCall> ENDED =
      AtomicIntegerFieldUpdater.newUpdater(RateLimitCall.class, "ended");

  private final CallHandler handler;
  private final ServerCall<InputStream, InputStream> call;
  private final Metadata headers;
  private final @Nullable CallSpan span;
  private final HeldCall held;

  /** Earliest time at which the call can have arrived; its caller's timeout counts from it. */
  private final long arrivedNanos;

  /** Time at which the call was read; gRPC's deadline counts from it. */
  private final long readNanos;

  // Written on the event loop before the decision starts: admission publishes them safely.
  private byte @Nullable [] message;
  private @Nullable RateLimitRequest request;
  private long startNanos = NOT_STARTED;

  /**
   * One of {@link #OPEN}, {@link #ANSWERED} and {@link #COUNTED}; changed through {@link #ENDED}
   * only.
   */
  @SuppressWarnings("UnusedVariable")
  private volatile int ended;

  /**
   * The action to run when the caller leaves without an answer, {@link Gone} once it has left;
   * changed through {@link #WHEN_GONE} only.
   */
  @SuppressWarnings("UnusedVariable")
  private volatile @Nullable Runnable onCancelled;

  RateLimitCall(
      CallHandler handler,
      ServerCall<InputStream, InputStream> call,
      Metadata headers,
      @Nullable CallSpan span) {
    this.handler = handler;
    this.call = call;
    this.headers = headers;
    this.span = span;
    this.held = HeldCall.begun(handler.time());
    this.arrivedNanos = held.arrivedNanos();
    this.readNanos = handler.time().monotonicNanos();
  }

  @Override
  public void onMessage(InputStream stream) {
    startNanos = handler.time().monotonicNanos();
    try {
      message = MessageBytes.read(stream);
    } catch (StatusRuntimeException tooMuch) {
      fail(tooMuch.getStatus());
    } catch (IOException malformed) {
      fail(
          Status.INVALID_ARGUMENT.withDescription(
              "the request does not match its declared compression"));
    }
  }

  @Override
  public void onHalfClose() {
    byte[] complete = message;
    message = null; // parsed below, and not retained while the decision waits for a store
    if (ended != OPEN) {
      return; // already failed by onMessage, or cancelled
    }
    held.requestIsComplete();
    if (complete == null) {
      startNanos = handler.time().monotonicNanos();
      fail(Status.INVALID_ARGUMENT.withDescription("a call has one request, this one has none"));
    } else if (isTooOld()) {
      shed();
    } else {
      decide(complete);
    }
  }

  @Override
  public void onCancel() {
    try {
      long now = handler.time().monotonicNanos();
      boolean open = claimEnd(COUNTED);
      if (open || ENDED.compareAndSet(this, ANSWERED, COUNTED)) { // or its answer was not sent
        boolean started = startNanos != NOT_STARTED;
        if (open && started) {
          handler.listener().failed(Failure.CANCELLED);
        }
        if (started && hasGivenUp(now)) {
          abandoned(Abandonment.RESET, now);
        } else if (span != null) {
          span.failed("cancelled");
        }
        if (open) {
          recordEnd(now);
        } else {
          endSpan();
        }
      }
    } finally { // also for an answer that was written but not sent
      gone();
    }
  }

  /** Notes that the answer has left. It may have become late while the event loop was busy. */
  @Override
  public void onComplete() {
    if (ENDED.compareAndSet(this, ANSWERED, COUNTED)) {
      long now = handler.time().monotonicNanos();
      if (isLate(now)) {
        abandoned(Abandonment.ANSWERED_LATE, now);
      }
      endSpan();
    }
  }

  @Override
  public void onCancelled(Runnable action) {
    Runnable before = WHEN_GONE.get(this);
    while (!(before instanceof Gone) && !WHEN_GONE.compareAndSet(this, before, action)) {
      before = WHEN_GONE.get(this);
    }
    if (before instanceof Gone) { // the caller left before
      action.run();
    }
  }

  @Override
  public void answered(Answer answer) {
    try {
      reply(answer);
    } catch (RuntimeException | Error unexpected) {
      failed(unexpected);
    }
  }

  @Override
  public void failed(Throwable cause) {
    switch (cause) {
      case InvalidRequestException invalid ->
          fail(Status.INVALID_ARGUMENT.withDescription(invalid.getMessage()));
      case NoPoliciesException notYet ->
          fail(Status.UNAVAILABLE.withDescription(notYet.getMessage()));
      case StoreException outage ->
          fail(Status.UNAVAILABLE.withDescription(outage.forCaller()), Failure.STORE);
      default -> {
        handler.warnings().failed(cause);
        fail(Status.INTERNAL.withDescription("internal error"));
      }
    }
  }

  @Override
  public long waitTimeoutNanos() {
    long now = handler.time().monotonicNanos();
    return ExpectedTimeout.waitTimeoutNanos(
        headers, Context.current().getDeadline(), Math.max(0, now - arrivedNanos), now - readNanos);
  }

  private void decide(byte[] complete) {
    try {
      RateLimitRequest read = handler.frontEnd().read(complete);
      request = read;
      Answer answer =
          span == null
              ? handler.frontEnd().decide(read, this)
              : span.around(() -> handler.frontEnd().decide(read, this));
      if (answer != null) {
        reply(answer);
      }
    } catch (RuntimeException | Error cause) {
      failed(cause);
    }
  }

  private void reply(Answer answer) {
    RateLimitRequest complete = request;
    RequestPermit permit = answer.permit();
    long now = handler.time().monotonicNanos();
    boolean late = isLate(now);
    if (permit != null) {
      // Before the answer is sent: a cancellation from here on releases the permit.
      onCancelled(permit::cancelled);
      if (late) {
        failLate(now);
        return;
      }
    }
    if (ended != OPEN || complete == null) { // meanwhile, perhaps by onCancel
      return;
    }
    byte[] response = handler.frontEnd().write(complete, answer);
    if (!claimEnd(late ? COUNTED : ANSWERED)) { // cancelled while the answer was serialized
      return;
    }
    try {
      if (span != null) {
        span.decided(complete, answer);
      }
      if (late) {
        abandoned(Abandonment.ANSWERED_LATE, now);
      }
      count(now);
      if (late) { // else the span ends when the answer has left, or could not
        endSpan();
      }
    } finally { // the caller is answered even if tracing or metrics throw
      if (!call.isCancelled()) {
        call.sendHeaders(new Metadata());
        call.sendMessage(new MessageBytes(response));
        call.close(Status.OK, new Metadata());
      }
    }
  }

  /** Returns whether three quarters of the caller's timeout passed before its request was read. */
  private boolean isTooOld() {
    // The age is compared first: almost every call is younger, and skips parsing the header.
    long age = startNanos - arrivedNanos;
    return age >= ExpectedTimeout.MIN_NANOS
        && age >= ExpectedTimeout.decidedBeforeNanos(headers, Context.current().getDeadline());
  }

  /**
   * Returns whether the caller's timeout has passed. gRPC does not deliver a cancellation for a
   * call that was already answered, and one may lie unread behind a slow decision, so a late answer
   * is treated as cancelled.
   */
  private boolean isLate(long now) {
    long age = now - arrivedNanos;
    return age >= ExpectedTimeout.MIN_NANOS && age >= ExpectedTimeout.timeoutNanos(headers);
  }

  /**
   * Returns whether a cancelled call was cancelled because of its timeout, not because Envoy's own
   * client left.
   *
   * <p>Half of the timeout counts as the whole, because Envoy's timeout starts before there is a
   * connection. A reset that was read in the same turn of the event loop as its request counts,
   * too: the process was not scheduled in between, for an unknown time.
   */
  private boolean hasGivenUp(long now) {
    Deadline deadline = Context.current().getDeadline();
    if (deadline != null && deadline.isExpired()) {
      return true;
    }
    long timeout = ExpectedTimeout.timeoutNanos(headers);
    return now - arrivedNanos >= timeout / 2
        || (timeout != Long.MAX_VALUE && LoopThread.arrivedNanos(handler.time()) == arrivedNanos);
  }

  private void abandoned(Abandonment how, long now) {
    handler.listener().abandoned(how);
    handler.warnings().missed();
    if (span != null) {
      long millis = TimeUnit.NANOSECONDS.toMillis(now - arrivedNanos);
      span.failed("deadline exceeded after " + millis + " ms");
    }
  }

  private void shed() {
    if (claimEnd(COUNTED)) {
      handler.warnings().missed();
      end(
          Status.DEADLINE_EXCEEDED.withDescription("read too late to be answered in time"),
          Failure.SHED,
          startNanos + (startNanos - arrivedNanos)); // its wait is its response time
    }
  }

  /** Fails a late call whose answer carries a permit: the caller no longer holds it. */
  private void failLate(long now) {
    if (claimEnd(COUNTED)) {
      abandoned(Abandonment.ANSWERED_LATE, now);
      end(
          Status.DEADLINE_EXCEEDED.withDescription("the caller's timeout has passed"),
          Failure.CANCELLED,
          now);
    }
  }

  private void fail(Status status) {
    fail(status, Failure.SERVICE);
  }

  private void fail(Status status, Failure failure) {
    if (claimEnd(COUNTED)) { // counted as a failure once, cancelled or not
      end(status, failure, handler.time().monotonicNanos());
    }
  }

  private void end(Status status, Failure failure, long now) {
    try {
      handler.listener().failed(failure);
      if (span != null) {
        span.failed(String.valueOf(status.getDescription()));
      }
      recordEnd(now);
    } finally {
      call.close(status, new Metadata());
      gone(); // an error carries no permit
    }
  }

  private void gone() {
    Runnable action = WHEN_GONE.getAndSet(this, Gone.CALLER);
    if (action != null) {
      action.run();
    }
  }

  /** Returns whether this thread won the right to end the call. */
  private boolean claimEnd(int state) {
    boolean claimed = ENDED.compareAndSet(this, OPEN, state);
    if (claimed) {
      message = null; // not retained while a slow client reads its answer
      request = null;
      held.isAnswered();
    }
    return claimed;
  }

  private void recordEnd(long now) {
    try {
      count(now);
    } finally {
      endSpan();
    }
  }

  private void count(long now) {
    if (startNanos != NOT_STARTED) {
      handler.listener().answered(now - startNanos);
    }
  }

  private void endSpan() {
    if (span != null) {
      span.end();
    }
  }

  /** The action of a caller that has left: none. */
  private enum Gone implements Runnable {
    CALLER;

    @Override
    public void run() {}
  }
}
