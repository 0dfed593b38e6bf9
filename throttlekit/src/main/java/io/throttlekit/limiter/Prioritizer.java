package io.throttlekit.limiter;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides by priority level which requests are refused under overload. Limiters that share a
 * prioritizer count as one queue, each only while it has requests in flight or waiting: the free
 * places of idle limiters do not relieve a full one.
 *
 * <p>{@link #calibrate}, to be called about once a second, derives a threshold: the level below
 * which as large a share of requests lies as must be refused. It counts the last 1,000 requests
 * that found their limiter full.
 *
 * <p>A limiter with a prioritizer of its own admits every request while permits are free, whatever
 * its level, and so does the only one in use of several. Several in use refuse levels below the
 * threshold even while permits are free. Two things differ from failsafe-go 0.9.7:
 *
 * <ul>
 *   <li>Levels are counted before they are compared with the threshold, not only those that passed.
 *       If only those that passed were counted, a rising threshold would become the lowest level
 *       ever counted, and would cut deeper each time until the queue is empty and every request is
 *       admitted again.
 *   <li>No queue grows beyond its bound, even when limiters share a prioritizer. In failsafe-go
 *       such queues are unbounded, and every request may wait while the threshold is 0.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class Prioritizer {
  /** Requests whose levels the threshold is a quantile of. */
  private static final int WINDOW = 1_000;

  private final DoubleSupplier random;
  private final PrioritizerListener listener;
  private final @Nullable UsageTracker usage;
  private final LevelTracker levels = new LevelTracker(WINDOW);

  /** Those in use. */
  private final ConcurrentHashMap<AdaptiveLimiter, Boolean> limiters = new ConcurrentHashMap<>();

  private final AtomicInteger threshold = new AtomicInteger();
  private volatile double rejectionRate;

  /** Creates a prioritizer without a listener and without usage tracking. */
  public Prioritizer() {
    this(() -> ThreadLocalRandom.current().nextDouble(), PrioritizerListener.NONE, null);
  }

  /**
   * Creates a prioritizer whose threshold is 0.
   *
   * @param random draws levels, from 0 to below 1; thread-safe
   * @param listener an exception it throws leaves {@link #calibrate}, whose work is done by then
   * @param usage source of the users' levels; null if usage is not tracked
   */
  public Prioritizer(
      DoubleSupplier random, PrioritizerListener listener, @Nullable UsageTracker usage) {
    this.random = random;
    this.listener = listener;
    this.usage = usage;
  }

  /**
   * Returns a random level of {@code priority}. Draw it once per request and pass it on, so that
   * all services on its way compare the same level.
   */
  public int level(Priority priority) {
    return priority.level(random.getAsDouble());
  }

  /**
   * Returns a level for a request of {@code user}: by its usage if that is tracked, else at random.
   */
  public int level(Priority priority, String user) {
    return usage == null ? level(priority) : usage.level(user, priority);
  }

  /** Returns the least level that may wait. */
  public int threshold() {
    return threshold.get();
  }

  /** Returns the share of requests to refuse, from 0 to 1, as of the last calibration. */
  public double rejectionRate() {
    return rejectionRate;
  }

  /** Sets the threshold by how full the queues are, and the users' levels by their usage. */
  public void calibrate() {
    if (usage != null) {
      usage.calibrate();
    }
    QueueFigures all = QueueFigures.NONE;
    for (AdaptiveLimiter limiter : limiters.keySet()) {
      all = all.plus(limiter.queueFigures());
    }
    // a limit is at least 1, so a sum of 0 is that of none
    double rate = all.limit() == 0 ? 0 : all.rejectionRate();
    rejectionRate = rate;
    int now = rate > 0 ? levels.quantile(rate) : 0;
    int before = threshold.getAndSet(now);
    if (before != now) {
      listener.thresholdChanged(before, now);
    }
  }

  /** Counts the limiter if it is in use, else no longer. To be called after each change of that. */
  void update(AdaptiveLimiter limiter) {
    // atomic with the check: of two concurrent calls the later one sees the current use
    limiters.compute(limiter, (each, _) -> each.isInUse() ? Boolean.TRUE : null);
  }

  /** Returns whether another limiter with this prioritizer is in use. */
  boolean isSharedBy(AdaptiveLimiter limiter) {
    int inUse = limiters.size();
    return inUse > 1 || (inUse == 1 && !limiters.containsKey(limiter));
  }

  /** Counts the level of a request that found its limiter full. */
  void foundFull(int level) {
    levels.add(level);
  }

  void used(String user, long usage) {
    if (this.usage != null) {
      this.usage.used(user, usage);
    }
  }
}
