package io.throttlekit.concurrency;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One request that may be in flight until this is ended: by {@link #record()}, {@link #drop} or
 * {@link #release}, whichever comes first. All that come later, from whatever thread, do nothing.
 *
 * <p>Thread-safe. A permit that nobody ends takes its place in the backend for ever.
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

  @SuppressWarnings("UnusedVariable") // by its handle
  private volatile boolean ended;

  Permit(AdaptiveLimiter limiter, @Nullable String user, long startNanos, int inFlight) {
    this.limiter = limiter;
    this.user = user;
    this.startNanos = startNanos;
    this.inFlight = inFlight;
  }

  /** The backend has answered: how long it took since the permit was given is a sample. */
  public void record() {
    if (end()) {
      limiter.endedWithSample(this, false);
    }
  }

  /**
   * The backend has answered, and somebody who stood nearer to it has measured how long it took.
   *
   * @param nanos from 0; in place of the time since the permit was given
   * @throws IllegalArgumentException when it is negative, and nothing is ended
   */
  public void record(long nanos) {
    if (nanos < 0) {
      throw new IllegalArgumentException("nobody answers before being asked, was " + nanos);
    }
    if (end()) {
      limiter.endedMeasured(this, nanos);
    }
  }

  /** The request was given up, which is evidence of overload. */
  public void drop() {
    if (end()) {
      limiter.endedWithSample(this, true);
    }
  }

  /**
   * The request says nothing about the backend: it never went there, or failed for its own sake.
   */
  public void release() {
    if (end()) {
      limiter.endedWithoutSample();
    }
  }

  /** {@link #release}, for what leaves a block without having been recorded or dropped. */
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
