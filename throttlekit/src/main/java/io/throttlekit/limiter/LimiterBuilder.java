package io.throttlekit.limiter;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limiter.tenants.TenantTerms;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Builds an {@link AdaptiveLimiter}. Not thread-safe. */
public final class LimiterBuilder {
  final ConcurrencyLimit algorithm;
  @Nullable Queueing queueing;
  @Nullable Prioritizer prioritizer;
  LimiterListener listener = LimiterListener.NONE;
  TimeSource time = TimeSource.system();
  Scheduler timer = Scheduler.system();
  LimitBound bound = LimitBound.NONE;
  @Nullable TenantTerms tenants;
  DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();

  LimiterBuilder(ConcurrencyLimit algorithm) {
    this.algorithm = algorithm;
  }

  /** Lets requests wait that find no free permit. Without it none waits. */
  public LimiterBuilder queueing(Queueing queueing) {
    this.queueing = queueing;
    return this;
  }

  /**
   * Decides by priority level instead of at random which requests may wait. Several limiters may
   * share {@code prioritizer}. Without {@link #queueing}, some requests are refused from twice the
   * limit waiting, and all from three times.
   */
  public LimiterBuilder prioritizer(Prioritizer prioritizer) {
    this.prioritizer = prioritizer;
    return this;
  }

  /** Sets the listener. */
  public LimiterBuilder listener(LimiterListener listener) {
    this.listener = listener;
    return this;
  }

  /** Sets the clock, and the timer that ends waits, which must follow this clock. */
  public LimiterBuilder time(TimeSource time, Scheduler timer) {
    this.time = time;
    this.timer = timer;
    return this;
  }

  /** Bounds the limit of the algorithm. */
  public LimiterBuilder bound(LimitBound bound) {
    this.bound = bound;
    return this;
  }

  /**
   * Divides the limit among tenants. A request within its tenant's part is admitted before others,
   * and may wait whatever its level, even if the queue is full, up to once the limit beyond it.
   */
  public LimiterBuilder tenants(TenantTerms tenants) {
    this.tenants = tenants;
    return this;
  }

  /** Sets the source of random numbers, from 0 to below 1; thread-safe. */
  public LimiterBuilder random(DoubleSupplier random) {
    this.random = random;
    return this;
  }

  /** Creates the limiter, with nothing in flight. */
  public AdaptiveLimiter build() {
    return new AdaptiveLimiter(this);
  }
}
