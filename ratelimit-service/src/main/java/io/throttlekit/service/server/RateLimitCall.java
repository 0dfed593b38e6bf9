package io.throttlekit.service.server;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.concurrency.Lease;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.telemetry.DecisionSpan;
import io.throttlekit.service.telemetry.Failure;
import io.throttlekit.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call in progress. Ends it exactly once, with an answer or an error.
 *
 * <p>A caller that is gone is not answered; what was charged for it stays charged, but what it has
 * in flight is not: it never went on. The answer may come on any thread, while the caller goes away
 * on the event loop: whoever sets {@code ended} ends the call, and nobody else touches it then.
 */
final class RateLimitCall extends ServerCall.Listener<InputStream> implements Later {
  private static final Logger LOG = LoggerFactory.getLogger(RateLimitCall.class);
  private static final long NOT_STARTED = Long.MIN_VALUE;
  private static final AtomicReferenceFieldUpdater<RateLimitCall, @Nullable Runnable> WHEN_GONE =
      AtomicReferenceFieldUpdater.newUpdater(RateLimitCall.class, Runnable.class, "whenGone");
  private static final AtomicIntegerFieldUpdater<RateLimitCall> ENDED =
      AtomicIntegerFieldUpdater.newUpdater(RateLimitCall.class, "ended");

  private final Deciding deciding;
  private final ServerCall<InputStream, byte[]> call;
  private final Metadata headers;
  private final @Nullable DecisionSpan span;

  // Written on the event loop before the request is decided: admission hands them on with it.
  private byte @Nullable [] message;
  private @Nullable RateLimitRequest request;
  private long startNanos = NOT_STARTED;

  /** 0 or 1; changed through {@link #ENDED} alone. */
  @SuppressWarnings("UnusedVariable")
  private volatile int ended;

  /** {@link Gone} once the caller has left without an answer; through {@link #WHEN_GONE} alone. */
  @SuppressWarnings("UnusedVariable")
  private volatile @Nullable Runnable whenGone;

  RateLimitCall(
      Deciding deciding,
      ServerCall<InputStream, byte[]> call,
      Metadata headers,
      @Nullable DecisionSpan span) {
    this.deciding = deciding;
    this.call = call;
    this.headers = headers;
    this.span = span;
  }

  /** A call whose message is awaited. */
  static RateLimitCall begin(
      Deciding deciding,
      ServerCall<InputStream, byte[]> call,
      Metadata headers,
      @Nullable DecisionSpan span) {
    // One message, and one more so that grpc-java notices a second and cancels the call.
    call.request(2);
    return new RateLimitCall(deciding, call, headers, span);
  }

  @Override
  public void onMessage(InputStream stream) {
    startNanos = deciding.time().monotonicNanos();
    try {
      message = MessageBytes.read(stream);
    } catch (StatusRuntimeException tooMuch) {
      fail(tooMuch.getStatus());
    } catch (IOException malformed) {
      fail(Status.INVALID_ARGUMENT.withDescription("the request is not compressed as it says"));
    }
  }

  @Override
  public void onHalfClose() {
    byte[] complete = message;
    if (ended != 0) {
      return;
    }
    if (complete == null) {
      startNanos = deciding.time().monotonicNanos();
      fail(Status.INVALID_ARGUMENT.withDescription("a call has one request, this one has none"));
    } else {
      decide(complete);
    }
  }

  @Override
  public void onCancel() {
    try {
      if (claimEnd()) {
        if (startNanos != NOT_STARTED) {
          deciding.metrics().failed(Failure.CANCELLED);
        }
        tellEnd();
      }
    } finally { // also of a caller that was answered, but went before the answer
      gone();
    }
  }

  @Override
  public void whenGone(Runnable action) {
    Runnable before = WHEN_GONE.get(this);
    while (!(before instanceof Gone) && !WHEN_GONE.compareAndSet(this, before, action)) {
      before = WHEN_GONE.get(this);
    }
    if (before instanceof Gone) {
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
        LOG.error("a rate limit request failed", cause);
        fail(Status.INTERNAL.withDescription("internal error"));
      }
    }
  }

  @Override
  public long patienceNanos() {
    long ageNanos = startNanos == NOT_STARTED ? 0 : deciding.time().monotonicNanos() - startNanos;
    return ExpectedTimeout.patienceNanos(headers, Context.current().getDeadline(), ageNanos);
  }

  private void decide(byte[] complete) {
    try {
      RateLimitRequest read = deciding.frontEnd().read(complete);
      request = read;
      Answer answer =
          span == null
              ? deciding.frontEnd().decide(read, this)
              : span.around(() -> deciding.frontEnd().decide(read, this));
      if (answer != null) {
        reply(answer);
      }
    } catch (RuntimeException | Error cause) {
      failed(cause);
    }
  }

  private void reply(Answer answer) {
    byte[] asked = message;
    RateLimitRequest complete = request;
    Lease lease = answer.lease();
    if (lease != null) {
      whenGone(lease::cancelled);
      if (isLate()) {
        fail(
            Status.DEADLINE_EXCEEDED.withDescription("nobody waits for the answer any more"),
            Failure.CANCELLED);
        return;
      }
    }
    if (ended != 0 || asked == null || complete == null) {
      return;
    }
    byte[] response = deciding.frontEnd().write(asked, answer);
    if (!claimEnd()) {
      return;
    }
    try {
      if (span != null) {
        Trace.decided(span, complete.domain(), answer);
      }
      tellEnd();
    } finally { // the caller is answered, whatever becomes of telling others
      if (!call.isCancelled()) {
        call.sendHeaders(new Metadata());
        call.sendMessage(response);
        call.close(Status.OK, new Metadata());
      }
    }
  }

  /**
   * Whether the caller has gone by now, as it said it would. Its cancellation may lie unread behind
   * a slow decision, and is never told of a call that was answered meanwhile.
   */
  private boolean isLate() {
    return deciding.time().monotonicNanos() - startNanos >= ExpectedTimeout.timeoutNanos(headers);
  }

  private void fail(Status status) {
    fail(status, Failure.SERVICE);
  }

  private void fail(Status status, Failure failure) {
    if (!claimEnd()) {
      return;
    }
    try {
      deciding.metrics().failed(failure);
      if (span != null) {
        span.failed(String.valueOf(status.getDescription()));
      }
      tellEnd();
    } finally {
      call.close(status, new Metadata());
      gone(); // an error names no lease
    }
  }

  private void gone() {
    Runnable action = WHEN_GONE.getAndSet(this, Gone.CALLER);
    if (action != null) {
      action.run();
    }
  }

  /** Whether the caller of this method, and no other, is to end the call. */
  private boolean claimEnd() {
    return ENDED.compareAndSet(this, 0, 1);
  }

  private void tellEnd() {
    try {
      if (startNanos != NOT_STARTED) {
        deciding.metrics().answered(deciding.time().monotonicNanos() - startNanos);
      }
    } finally {
      if (span != null) {
        span.end();
      }
    }
  }

  /** What is done for a caller that has left: nothing more. */
  private enum Gone implements Runnable {
    CALLER;

    @Override
    public void run() {}
  }
}
