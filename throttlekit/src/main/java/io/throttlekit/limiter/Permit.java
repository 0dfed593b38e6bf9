package io.throttlekit.limiter;

import io.throttlekit.limiter.tenants.Tenant;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A slot for one request in flight, until {@link #record()}, {@link #drop} or {@link #release} ends
 * it. Only the first of these calls has an effect, from any thread.
 *
 * <p>Thread-safe. A permit that is never ended occupies its slot for ever.
 */
public final class Permit implements AutoCloseable {
  private static final AtomicIntegerFieldUpdater<Permit> ENDED = // no object per permit
      AtomicIntegerFieldUpdater.newUpdater(Permit.class, "ended");

  /** The latency of a permit that is ended without a measured one. */
  static final long UNMEASURED = -1;

  private final AdaptiveLimiter limiter;
  final @Nullable String user;

  /** Null if tenants do not share the permits. */
  final @Nullable Tenant<QueuedRequest> tenant;

  final long startNanos;
  final int inFlight;

  @SuppressWarnings("UnusedVariable") // read and written through ENDED
  private volatile int ended;

  Permit(
      AdaptiveLimiter limiter,
      @Nullable String user,
      @Nullable Tenant<QueuedRequest> tenant,
      long startNanos,
      int inFlight) {
    this.limiter = limiter;
    this.user = user;
    this.tenant = tenant;
    this.startNanos = startNanos;
    this.inFlight = inFlight;
  }

  /** Ends the permit after a response, and records the time since it was acquired as a sample. */
  public void record() {
    end(UNMEASURED, false);
  }

  /**
   * Ends the permit after a response, and records a latency that was measured closer to the
   * backend.
   *
   * @param nanos latency in ns, from 0, instead of the time since the permit was acquired
   * @throws IllegalArgumentException when it is negative; the permit is not ended then
   */
  public void record(long nanos) {
    if (nanos < 0) {
      throw new IllegalArgumentException("nanos must not be negative, was " + nanos);
    }
    end(nanos, false);
  }

  /**
   * Ends the permit of a request that timed out or was cancelled, which is evidence of overload.
   */
  public void drop() {
    end(UNMEASURED, true);
  }

  /**
   * Ends the permit without a sample: the request never reached the backend, or failed for reasons
   * of its own.
   */
  public void release() {
    if (ENDED.compareAndSet(this, 0, 1)) {
      limiter.released(this);
    }
  }

  /**
   * Does the same as {@link #release}, for a block that is left without a recorded or dropped
   * request.
   */
  @Override
  public void close() {
    release();
  }

  private void end(long nanos, boolean dropped) {
    if (ENDED.compareAndSet(this, 0, 1)) {
      limiter.ended(this, nanos, dropped);
    }
  }
}
