package io.throttlekit.service.admission;

import io.throttlekit.TimeSource;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.concurrency.ConcurrencyGate;
import io.throttlekit.service.concurrency.Entering;
import io.throttlekit.service.concurrency.Lease;
import io.throttlekit.service.concurrency.Wanted;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Admission of one request that reaches concurrency limits: it acquires a slot below each of them
 * and is charged afterwards. If the charge refuses or fails, the slots are released without a
 * latency sample, because the backend never received the request.
 *
 * <p>For one request; callbacks may arrive on any thread.
 */
final class BelowCeilings implements Entering.Later, Tiers.Later {
  /** Longest wait for a slot of a request without a timeout. */
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final RateLimitRequest request;
  private final ManyDescriptors many;
  private final Counters counters;
  private final TimeSource time;
  private final Later later;
  private final long patienceNanos;
  private final long beganNanos;

  // Written only by the thread that owns the request, and published when that hands it on.
  private @Nullable Lease lease;

  // Guarded by this.
  private @Nullable Entering entering;
  private @Nullable Answer answer;
  private @Nullable Throwable failure;
  private boolean left;
  private boolean returned;

  BelowCeilings(
      RateLimitRequest request,
      ManyDescriptors many,
      Counters counters,
      TimeSource time,
      Later later) {
    this.request = request;
    this.many = many;
    this.counters = counters;
    this.time = time;
    this.later = later;
    this.patienceNanos = later.patienceNanos();
    this.beganNanos = time.monotonicNanos();
  }

  /** Returns the answer, or null if {@code later} receives it. */
  @Nullable Answer enter(ConcurrencyGate gate, List<Wanted> wanted) {
    later.whenGone(this::leave);
    Entering begun = gate.enter(wanted, longestWaitNanos(), this);
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
      begun.leave();
    }
    if (failed != null) {
      later.failed(failed);
    }
    return known;
  }

  @Override
  public void entered(Entering by, @Nullable Lease held) {
    lease = held;
    try {
      many.entered(by);
      List<RuleClaim> claims = many.claims();
      if (claims.isEmpty()) {
        settle(many.nothingCharged());
      } else {
        TieredOutcome outcome = counters.decide(claims, this);
        if (outcome != null) {
          settle(many.answer(outcome));
        }
      }
    } catch (RuntimeException | Error unexpected) { // without this the call would never be answered
      fail(unexpected);
    }
  }

  @Override
  public void refused(Entering by) {
    try {
      many.entered(by);
      tell(many.refusedBelowCeiling());
    } catch (RuntimeException | Error unexpected) {
      fail(unexpected);
    }
  }

  @Override
  public void decided(TieredOutcome outcome) {
    try {
      settle(many.answer(outcome));
    } catch (RuntimeException | Error unexpected) {
      fail(unexpected);
    }
  }

  @Override
  public void failed(StoreException cause) {
    fail(cause);
  }

  /** Returns the wait timeout of the caller less the time spent waiting for slots. */
  @Override
  public long patienceNanos() {
    return patienceNanos == Long.MAX_VALUE
        ? patienceNanos
        : Math.max(0, patienceNanos - (time.monotonicNanos() - beganNanos));
  }

  /**
   * Returns about half of the caller's timeout. The wait timeout is at most nine tenths of it, so
   * 5/9 of the wait timeout is half of the timeout.
   */
  private long longestWaitNanos() {
    return patienceNanos == Long.MAX_VALUE ? LONGEST_WAIT_NANOS : patienceNanos / 9 * 5;
  }

  private void leave() {
    Entering begun;
    synchronized (this) {
      left = true;
      begun = entering;
    }
    if (begun != null) {
      begun.leave();
    }
  }

  private void settle(Answer charged) {
    Lease held = lease;
    if (held != null && !charged.admitted()) {
      held.refused();
    }
    tell(charged.admitted() ? charged.with(held) : charged);
  }

  private void tell(Answer known) {
    synchronized (this) {
      // enter() has not returned: it returns the answer itself
      if (!returned) {
        answer = known;
        return;
      }
    }
    later.answered(PolicyAdmission.told(request, known));
  }

  private void fail(Throwable cause) {
    Lease held = lease;
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
    later.failed(cause);
  }
}
