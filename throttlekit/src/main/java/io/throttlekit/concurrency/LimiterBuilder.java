package io.throttlekit.concurrency;

import io.throttlekit.TimeSource;
import io.throttlekit.tier.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Makes an {@link AdaptiveLimiter}. For one thread. */
public final class LimiterBuilder {
  final ConcurrencyLimit law;
  @Nullable Queueing queueing;
  @Nullable Prioritizer prioritizer;
  LimiterListener listener = LimiterListener.NONE;
  TimeSource time = TimeSource.system();
  Timer timer = LimiterBuilder::runAfter;
  DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();

  LimiterBuilder(ConcurrencyLimit law) {
    this.law = law;
  }

  /** Lets those wait who find no room; without it nobody does. */
  public LimiterBuilder queueing(Queueing queueing) {
    this.queueing = queueing;
    return this;
  }

  /**
   * Has {@code prioritizer}, which others may share, decide by levels instead of by lot who may
   * wait. Where {@link #queueing} says nothing else, twice the ceiling may wait before any is
   * refused, and three times at most.
   */
  public LimiterBuilder prioritizer(Prioritizer prioritizer) {
    this.prioritizer = prioritizer;
    return this;
  }

  /** Has {@code listener} told of what happens. */
  public LimiterBuilder listener(LimiterListener listener) {
    this.listener = listener;
    return this;
  }

  /** Takes the time from {@code time}, and has {@code timer}, which follows it, end the waiting. */
  public LimiterBuilder time(TimeSource time, Timer timer) {
    this.time = time;
    this.timer = timer;
    return this;
  }

  /** Draws lots with {@code random}, from 0 to below 1; thread-safe. */
  public LimiterBuilder random(DoubleSupplier random) {
    this.random = random;
    return this;
  }

  /** A limiter with nothing in flight, known to its prioritizer until it is closed. */
  public AdaptiveLimiter build() {
    AdaptiveLimiter limiter = new AdaptiveLimiter(this);
    if (prioritizer != null) {
      prioritizer.join(limiter);
    }
    return limiter;
  }

  private static void runAfter(long nanos, Runnable task) {
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task);
  }
}
