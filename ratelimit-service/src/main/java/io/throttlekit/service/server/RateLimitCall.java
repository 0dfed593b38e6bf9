package io.throttlekit.service.server;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.concurrency.Lease;
import io.throttlekit.service.loop.HeldCall;
import io.throttlekit.service.loop.LoopThread;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.telemetry.CallMetrics.Abandonment;
import io.throttlekit.service.telemetry.DecisionSpan;
import io.throttlekit.service.telemetry.Failure;
import io.throttlekit.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * One call in progress. Ends it exactly once, with an answer or an error.
 *
 * <p>A caller that is gone is not answered; what was charged for it stays charged, but what it has
 * in flight is not: it never went on. The answer may come on any thread, while the caller goes away
 * on the event loop: whoever sets {@code ended} ends the call, and nobody else touches it then.
 */
final class RateLimitCall extends ServerCall.Listener<InputStream> implements Later {
  private static final long NOT_STARTED = Long.MIN_VALUE;

  // States of a call, in this order only; see ENDED.
  private static final int OPEN = 0;
  private static final int ANSWERED = 1;

  /** Answered or not, counted as given up, refused for its age or failed: not counted again. */
  private static final int COUNTED = 2;

  private static final AtomicReferenceFieldUpdater<RateLimitCall, @Nullable Runnable> WHEN_GONE =
      AtomicReferenceFieldUpdater.newUpdater(RateLimitCall.class, Runnable.class, "whenGone");
  private static final AtomicIntegerFieldUpdater<RateLimitCall> ENDED =
      AtomicIntegerFieldUpdater.newUpdater(RateLimitCall.class, "ended");

  private final Deciding deciding;
  private final ServerCall<InputStream, byte[]> call;
  private final Metadata headers;
  private final @Nullable DecisionSpan span;
  private final HeldCall held = HeldCall.begun();

  /** When the call can have arrived at the earliest, which its caller's timeout counts from. */
  private final long arrivedNanos;

  /** When it was read, from which gRPC counts its deadline. */
  private final long readNanos;

  // Written on the event loop before the request is decided: admission hands them on with it.
  private byte @Nullable [] message;
  private @Nullable RateLimitRequest request;
  private long startNanos = NOT_STARTED;

  /** {@link #OPEN} and so on; changed through {@link #ENDED} alone. */
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
    this.arrivedNanos = LoopThread.arrivedNanos(deciding.time());
    this.readNanos = deciding.time().monotonicNanos();
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
    if (ended != OPEN) {
      return; // and its answer is what the client holds
    }
    held.requestIsComplete();
    if (complete == null) {
      startNanos = deciding.time().monotonicNanos();
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
      long now = deciding.time().monotonicNanos();
      boolean gaveUp = hasGivenUp(now);
      if (claimEnd(COUNTED)) {
        if (startNanos != NOT_STARTED) {
          deciding.metrics().failed(Failure.CANCELLED);
          if (gaveUp) {
            abandoned(Abandonment.RESET, now);
          }
        }
        tellEnd(now);
      } else if (ENDED.compareAndSet(this, ANSWERED, COUNTED)) { // the answer was not sent
        if (gaveUp) {
          abandoned(Abandonment.RESET, now);
        }
        endSpan();
      }
    } finally { // also of a caller that was answered, but went before the answer
      gone();
    }
  }

  /** The answer has left: an event loop that was busy meanwhile may have made it late. */
  @Override
  public void onComplete() {
    if (ENDED.compareAndSet(this, ANSWERED, COUNTED)) {
      long now = deciding.time().monotonicNanos();
      if (isLate(now)) {
        abandoned(Abandonment.ANSWERED_LATE, now);
      }
      endSpan();
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
        deciding.warnings().failed(cause);
        fail(Status.INTERNAL.withDescription("internal error"));
      }
    }
  }

  @Override
  public long patienceNanos() {
    long now = deciding.time().monotonicNanos();
    return ExpectedTimeout.patienceNanos(
        headers, Context.current().getDeadline(), Math.max(0, now - arrivedNanos), now - readNanos);
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
    long now = deciding.time().monotonicNanos();
    boolean late = isLate(now);
    if (lease != null) {
      whenGone(lease::cancelled);
      if (late) {
        failLate(now);
        return;
      }
    }
    if (ended != OPEN || asked == null || complete == null) {
      return;
    }
    byte[] response = deciding.frontEnd().write(asked, answer);
    if (!claimEnd(late ? COUNTED : ANSWERED)) {
      return;
    }
    try {
      if (span != null) {
        Trace.decided(span, complete.domain(), answer);
      }
      if (late) {
        abandoned(Abandonment.ANSWERED_LATE, now);
      }
      count(now);
      if (late) { // else it ends when the answer has left, or could not
        endSpan();
      }
    } finally { // the caller is answered, whatever becomes of telling others
      if (!call.isCancelled()) {
        call.sendHeaders(new Metadata());
        call.sendMessage(response);
        call.close(Status.OK, new Metadata());
      }
    }
  }

  /** Whether three quarters of what the caller waits have passed before its request was read. */
  private boolean isTooOld() {
    long age = startNanos - arrivedNanos;
    return age >= ExpectedTimeout.SHORTEST_NANOS
        && age >= ExpectedTimeout.decidedBeforeNanos(headers, Context.current().getDeadline());
  }

  /**
   * Whether the caller has gone by now, as it said it would. Its cancellation may lie unread behind
   * a slow decision, and is never told of a call that was answered meanwhile.
   */
  private boolean isLate(long now) {
    long age = now - arrivedNanos;
    return age >= ExpectedTimeout.SHORTEST_NANOS && age >= ExpectedTimeout.timeoutNanos(headers);
  }

  /**
   * Whether a caller that has left did so because of its timeout, not because its own client left.
   *
   * <p>Half of the timeout counts as the whole: Envoy's begins before there is a connection. So
   * does a reset that was read in one turn with its request, for this process was not scheduled in
   * between: nothing else tells how long that was.
   */
  private boolean hasGivenUp(long now) {
    Deadline deadline = Context.current().getDeadline();
    if (deadline != null && deadline.isExpired()) {
      return true;
    }
    long timeout = ExpectedTimeout.timeoutNanos(headers);
    return now - arrivedNanos >= timeout / 2
        || (timeout != Long.MAX_VALUE && LoopThread.arrivedNanos(deciding.time()) == arrivedNanos);
  }

  private void abandoned(Abandonment how, long now) {
    deciding.metrics().abandoned(how);
    deciding.warnings().missed();
    if (span != null) {
      long millis = TimeUnit.NANOSECONDS.toMillis(now - arrivedNanos);
      span.failed("the caller gave up: there was no answer within " + millis + " ms");
    }
  }

  private void shed() {
    if (claimEnd(COUNTED)) {
      deciding.warnings().missed();
      end(
          Status.DEADLINE_EXCEEDED.withDescription("read too late to be answered in time"),
          Failure.SHED,
          startNanos + (startNanos - arrivedNanos)); // how long it waited is its response time
    }
  }

  /** Ends a call whose answer would give a lease to a caller that has gone. */
  private void failLate(long now) {
    if (claimEnd(COUNTED)) {
      deciding.metrics().abandoned(Abandonment.ANSWERED_LATE);
      deciding.warnings().missed();
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
    if (claimEnd(COUNTED)) { // as a failure, once, whether or not its caller still waited
      end(status, failure, deciding.time().monotonicNanos());
    }
  }

  private void end(Status status, Failure failure, long now) {
    try {
      deciding.metrics().failed(failure);
      if (span != null) {
        span.failed(String.valueOf(status.getDescription()));
      }
      tellEnd(now);
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
  private boolean claimEnd(int state) {
    boolean claimed = ENDED.compareAndSet(this, OPEN, state);
    if (claimed) {
      message = null; // a client that does not read its answer must not keep it here
      request = null;
      held.isAnswered();
    }
    return claimed;
  }

  private void tellEnd(long now) {
    try {
      count(now);
    } finally {
      endSpan();
    }
  }

  private void count(long now) {
    if (startNanos != NOT_STARTED) {
      deciding.metrics().answered(now - startNanos);
    }
  }

  private void endSpan() {
    if (span != null) {
      span.end();
    }
  }

  /** What is done for a caller that has left: nothing more. */
  private enum Gone implements Runnable {
    CALLER;

    @Override
    public void run() {}
  }
}
