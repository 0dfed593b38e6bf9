package io.throttlekit.service.concurrency;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.concurrency.LimiterFigures;
import io.throttlekit.concurrency.Prioritizer;
import io.throttlekit.descriptors.ConcurrencyRule;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.tier.Timer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/**
 * The concurrency limits of this process, by domain and entries.
 *
 * <p>Limits that requests use are all kept; of the idle ones a bounded number, with the state of
 * their limit algorithms, for a day after their last request. Thread-safe.
 */
public final class ConcurrencyLimits {
  /**
   * Time after which an idle limit is forgotten, and starts again from its {@code initial}. Longer
   * than a night without traffic, so that what was learned by day is kept until the next.
   */
  static final Duration IDLE_TIME = Duration.ofDays(1);

  // Prioritizer expects about one calibration a second
  private static final long CALIBRATION_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TimeSource time;
  private final Timer timer;
  private final ConcurrentHashMap<CounterKey, PinnedLimit> pinned = new ConcurrentHashMap<>();
  private final Cache<CounterKey, PinnedLimit> known;
  private final AtomicBoolean calibrating = new AtomicBoolean();

  /**
   * Creates an empty set.
   *
   * @param mostIdle idle concurrency limits to keep at most
   */
  ConcurrencyLimits(TimeSource time, Timer timer, int mostIdle) {
    this.time = time;
    this.timer = timer;
    // Runnable::run: evictions run on the calling thread, not in the common pool
    this.known =
        Caffeine.newBuilder()
            .maximumSize(mostIdle)
            .expireAfterAccess(IDLE_TIME)
            .ticker(time::monotonicNanos)
            .executor(Runnable::run)
            .build();
  }

  TimeSource time() {
    return time;
  }

  Timer timer() {
    return timer;
  }

  /**
   * Returns the concurrency limit of the entries, which is kept until it was unpinned as often as
   * it was pinned.
   */
  PinnedLimit pin(Rule rule, ConcurrencyRule terms, String[] entries) {
    CounterKey key = CounterKey.of(rule.limiterScope(), rule.chargedEntries(entries));
    PinnedLimit held =
        pinned.compute(
            key,
            (_, current) -> {
              PinnedLimit found =
                  current != null
                      ? current
                      : known.get(key, _ -> new PinnedLimit(this, key, rule, terms));
              found.pin(rule, terms);
              return found;
            });
    held.follow(rule, terms);
    if (held.prioritizer() != null) {
      calibrateSoon();
    }
    return held;
  }

  void unpin(PinnedLimit held) {
    PinnedLimit left =
        pinned.computeIfPresent(
            held.key(),
            (key, current) -> {
              if (!current.unpinned()) {
                return current;
              }
              // before the entry is unpinned, so that a parallel pin finds the same limit; it may
              // have expired while requests used it
              known.put(key, current);
              return null;
            });
    Prioritizer prioritizer = held.prioritizer();
    // an idle limit is not calibrated again before its next request
    if (left == null && prioritizer != null) {
      prioritizer.calibrate();
    }
  }

  /** Passes each concurrency limit to {@code reader}, with the rule that requested it last. */
  public void forEach(BiConsumer<Rule, LimiterFigures> reader) {
    known.cleanUp(); // expired ones stay in memory until the cache is used
    Set<CounterKey> shown = ConcurrentHashMap.newKeySet();
    pinned.forEach((key, held) -> {
      shown.add(key);
      reader.accept(held.rule(), held.figures());
    });
    known
        .asMap()
        .forEach((key, held) -> {
          if (shown.add(key)) {
            reader.accept(held.rule(), held.figures());
          }
        });
  }

  private void calibrateSoon() {
    // the plain read first: a CAS on each request would contend
    if (!calibrating.get() && calibrating.compareAndSet(false, true)) {
      timer.runAfter(CALIBRATION_NANOS, this::calibrate);
    }
  }

  private void calibrate() {
    calibrating.set(false);
    boolean any = false;
    for (PinnedLimit held : pinned.values()) {
      Prioritizer prioritizer = held.prioritizer();
      if (prioritizer != null) {
        prioritizer.calibrate();
        any = true;
      }
    }
    if (any) {
      calibrateSoon();
    }
  }
}
