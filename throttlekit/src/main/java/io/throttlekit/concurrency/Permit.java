package io.throttlekit.concurrency;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A slot for one request in flight, until {@link #record()}, {@link #drop} or {@link #release} ends
 * it. Only the first of these calls has an effect, from any thread.
 *
 * <p>Thread-safe. A permit that is never ended occupies its slot for ever.
 */
public final class Permit implements AutoCloseable {
  private static final VarHandle ENDED;

  static {
    try {
      ENDED = MethodHandles.lookup().findVarHandle(Permit.class, "ended", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final AdaptiveLimiter limiter;
  private final @Nullable String user;
  private final long startNanos;
  private final int inFlight;

  @SuppressWarnings("UnusedVariable") // read and written through ENDED
  private volatile boolean ended;

  Permit(AdaptiveLimiter limiter, @Nullable String user, long startNanos, int inFlight) {
    this.limiter = limiter;
    this.user = user;
    this.startNanos = startNanos;
    this.inFlight = inFlight;
  }

  /** Ends the permit after a response, and records the time since it was acquired as a sample. */
  public void record() {
    if (end()) {
      limiter.endedWithSample(this, false);
    }
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
      throw new IllegalArgumentException("nobody answers before being asked, was " + nanos);
    }
    if (end()) {
      limiter.endedMeasured(this, nanos);
    }
  }

  /**
   * Ends the permit of a request that timed out or was cancelled, which is evidence of overload.
   */
  public void drop() {
    if (end()) {
      limiter.endedWithSample(this, true);
    }
  }

  /**
   * Ends the permit without a sample: the request never reached the backend, or failed for reasons
   * of its own.
   */
  public void release() {
    if (end()) {
      limiter.endedWithoutSample();
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

  @Nullable String user() {
    return user;
  }

  long startNanos() {
    return startNanos;
  }

  int inFlight() {
    return inFlight;
  }

  private boolean end() {
    return ENDED.compareAndSet(this, false, true);
  }
}
