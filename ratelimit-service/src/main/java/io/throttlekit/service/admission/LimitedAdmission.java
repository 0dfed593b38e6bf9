package io.throttlekit.service.admission;

import io.throttlekit.TimeSource;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.PermitAcquisition;
import io.throttlekit.service.concurrency.ReachedLimit;
import io.throttlekit.service.concurrency.RequestPermit;
import io.throttlekit.tier.Counters;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Admission of one request that reaches concurrency limits: it acquires a permit of each of them
 * and is charged afterwards. If the charge refuses or fails, the permits are released without a
 * latency sample, because the backend never received the request.
 *
 * <p>For one request; callbacks may arrive on any thread.
 */
final class LimitedAdmission implements PermitAcquisition.AcquisitionCallback, AnswerCallback {
  /**
   * Longest wait for a permit of a request without a timeout: as long as the timeout that is
   * recommended for Envoy's rate limit filter.
   */
  private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final RateLimitRequest request;
  private final ManyDescriptors many;
  private final Counters counters;
  private final TimeSource time;
  private final AnswerCallback callback;
  private final long waitTimeoutNanos;
  private final long beganNanos;

  // Written only by the thread that owns the request, and published when that hands it on.
  private @Nullable RequestPermit permit;

  // Guarded by this.
  private @Nullable PermitAcquisition entering;
  private @Nullable Answer answer;
  private @Nullable Throwable failure;
  private boolean left;
  private boolean returned;

  LimitedAdmission(
      RateLimitRequest request,
      ManyDescriptors many,
      Counters counters,
      TimeSource time,
      AnswerCallback callback) {
    this.request = request;
    this.many = many;
    this.counters = counters;
    this.time = time;
    this.callback = callback;
    this.waitTimeoutNanos = callback.waitTimeoutNanos();
    this.beganNanos = time.monotonicNanos();
  }

  /** Returns the answer, or null if {@code callback} receives it. */
  @Nullable Answer enter(ConcurrencyLimiter limiter, List<ReachedLimit> wanted) {
    callback.onCancelled(this::leave);
    PermitAcquisition begun = limiter.enter(wanted, longestWaitNanos(), this);
    boolean gone;
    Answer known;
    Throwable failed;
    synchronized (this) {
      returned = true;
      entering = begun;
      gone = left;
      known = answer;
      failed = failure;
    }
    // leave() ran before `entering` was set
    if (gone) {
      begun.cancel();
    }
    if (failed != null) {
      callback.failed(failed);
    }
    return known;
  }

  @Override
  public void entered(PermitAcquisition by, @Nullable RequestPermit held) {
    permit = held;
    try {
      many.entered(by);
      Answer known = many.charge(counters, this);
      if (known != null) {
        settle(known);
      }
    } catch (RuntimeException | Error unexpected) { // without this the call would never be answered
      failed(unexpected);
    }
  }

  @Override
  public void refused(PermitAcquisition by) {
    try {
      many.entered(by);
      answer(many.refusedByLimiter());
    } catch (RuntimeException | Error unexpected) {
      failed(unexpected);
    }
  }

  @Override
  public void answered(Answer charged) {
    try {
      settle(charged);
    } catch (RuntimeException | Error unexpected) {
      failed(unexpected);
    }
  }

  @Override
  public void failed(Throwable cause) {
    RequestPermit held = permit;
    if (held != null) {
      held.refused();
    }
    synchronized (this) {
      // enter() has not returned: it reports the failure itself
      if (!returned) {
        failure = cause;
        return;
      }
    }
    callback.failed(cause);
  }

  /** Returns the wait timeout of the caller less the time spent waiting for permits. */
  @Override
  public long waitTimeoutNanos() {
    return waitTimeoutNanos == Long.MAX_VALUE
        ? waitTimeoutNanos
        : Math.max(0, waitTimeoutNanos - (time.monotonicNanos() - beganNanos));
  }

  /**
   * Returns about half of the caller's timeout. The wait timeout is at most nine tenths of it, so
   * 5/9 of the wait timeout is half of the timeout.
   */
  private long longestWaitNanos() {
    return waitTimeoutNanos == Long.MAX_VALUE ? MAX_WAIT_NANOS : waitTimeoutNanos / 9 * 5;
  }

  private void leave() {
    PermitAcquisition begun;
    synchronized (this) {
      left = true;
      begun = entering;
    }
    if (begun != null) {
      begun.cancel();
    }
  }

  private void settle(Answer charged) {
    RequestPermit held = permit;
    if (held != null && !charged.admitted()) {
      held.refused();
    }
    answer(charged.admitted() ? charged.with(held) : charged);
  }

  private void answer(Answer known) {
    synchronized (this) {
      // enter() has not returned: it returns the answer itself
      if (!returned) {
        answer = known;
        return;
      }
    }
    callback.answered(PolicyAdmission.logged(request, known));
  }
}
