package io.throttlekit.concurrency;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides by their levels which requests are refused while there are too many: of limiters that
 * share it, by how full the queues of all are taken together.
 *
 * <p>{@link #calibrate}, which somebody calls every second or so, turns that into a threshold: the
 * level that as large a part of the requests are below as are to be refused. The requests counted
 * for it are the last 1,000 that found their limiter full.
 *
 * <p>A request of one limiter that has its prioritizer for itself is let in while there is room,
 * whatever its level. Limiters that share one refuse what is below the threshold even while there
 * is room. In two things this is not what failsafe-go 0.9.7 does:
 *
 * <ul>
 *   <li>Levels are counted before they are compared with the threshold, not only those that were
 *       let pass. Counted as there, a rising threshold is the lowest level that is ever counted,
 *       and cuts deeper each time until the queue is empty and everybody is let in again.
 *   <li>No queue grows beyond its bound, also of limiters that share a prioritizer. There, such
 *       queues have none, and while the threshold is 0 all that comes is let in to wait.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class Prioritizer {
  private static final int WINDOW = 1_000;

  private final DoubleSupplier random;
  private final PrioritizerListener listener;
  private final @Nullable UsageTracker usage;
  private final LevelTracker levels = new LevelTracker(WINDOW);
  private final List<AdaptiveLimiter> limiters = new CopyOnWriteArrayList<>();
  private final AtomicInteger threshold = new AtomicInteger();
  private volatile double rejectionRate;

  /** A prioritizer that nobody listens to, and that does not count what users use. */
  public Prioritizer() {
    this(() -> ThreadLocalRandom.current().nextDouble(), PrioritizerListener.NONE, null);
  }

  /**
   * A prioritizer whose threshold is 0.
   *
   * @param random draws levels, from 0 to below 1; thread-safe
   * @param listener what it throws comes out of {@link #calibrate}, which has done its work then
   * @param usage where users' levels come from; null if not from what they use
   */
  public Prioritizer(
      DoubleSupplier random, PrioritizerListener listener, @Nullable UsageTracker usage) {
    this.random = random;
    this.listener = listener;
    this.usage = usage;
  }

  /** A level for a request of {@code priority}, to be drawn once and kept on all its way. */
  public int level(Priority priority) {
    return priority.level(random.getAsDouble());
  }

  /** A level for a request of {@code user}: by what it uses, where that is counted. */
  public int level(Priority priority, String user) {
    return usage == null ? level(priority) : usage.level(user, priority);
  }

  /** The level that a request needs to wait. */
  public int threshold() {
    return threshold.get();
  }

  /** What part of the requests is to be refused, from 0 to 1, as of the last calibration. */
  public double rejectionRate() {
    return rejectionRate;
  }

  /** Sets the threshold by how full the queues are now; and users' levels by what they used. */
  public void calibrate() {
    if (usage != null) {
      usage.calibrate();
    }
    QueueFigures all = QueueFigures.NONE;
    for (AdaptiveLimiter limiter : limiters) {
      all = all.plus(limiter.queueFigures());
    }
    double rate = limiters.isEmpty() ? 0 : all.rejectionRate();
    rejectionRate = rate;
    int now = rate > 0 ? levels.quantile(rate) : 0;
    int before = threshold.getAndSet(now);
    if (before != now) {
      listener.thresholdChanged(before, now);
    }
  }

  void join(AdaptiveLimiter limiter) {
    limiters.add(limiter);
  }

  void leave(AdaptiveLimiter limiter) {
    limiters.remove(limiter);
  }

  boolean isShared() {
    return limiters.size() > 1;
  }

  /** A request of this level found its limiter full. */
  void wanted(int level) {
    levels.add(level);
  }

  void used(String user, long usage) {
    if (this.usage != null) {
      this.usage.used(user, usage);
    }
  }
}
