package io.throttlekit.service.concurrency;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Gate;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.tier.Timer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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

  final TimeSource time;
  final Timer timer;
  private final ConcurrentHashMap<CounterKey, PinnedLimit> pinned = new ConcurrentHashMap<>();
  private final Cache<CounterKey, PinnedLimit> known;
  private final AtomicBoolean calibrating = new AtomicBoolean();
  final ConcurrencyListener listener;
  private final Function<Gate, @Nullable PriorityTerms> priorities;
  private final Prioritizers prioritizers;

  /**
   * Creates an empty set.
   *
   * @param priorities returns how a gate ranks requests, or null if it does not
   * @param maxIdle idle concurrency limits to keep at most
   */
  ConcurrencyLimits(
      TimeSource time,
      Timer timer,
      ConcurrencyListener listener,
      Function<Gate, @Nullable PriorityTerms> priorities,
      int maxIdle) {
    this.time = time;
    this.timer = timer;
    this.listener = listener;
    this.priorities = priorities;
    this.prioritizers = new Prioritizers(time, listener);
    // Runnable::run: evictions run on the calling thread, not in the common pool
    this.known =
        Caffeine.newBuilder()
            .maximumSize(maxIdle)
            .expireAfterAccess(IDLE_TIME)
            .ticker(time::monotonicNanos)
            .executor(Runnable::run)
            .build();
  }

  /** Returns how a gate ranks requests, or null if it does not. */
  @Nullable PriorityTerms priorities(Gate gate) {
    return priorities.apply(gate);
  }

  /** Returns the prioritizer of these terms of a rule. */
  @Nullable Prioritizer prioritizer(Rule rule, @Nullable PriorityTerms terms) {
    return terms == null ? null : prioritizers.of(rule.domain(), terms);
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
            held.key,
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
    // an idle limit is not calibrated again before its next request; named ones all are
    if (left == null
        && prioritizer != null
        && prioritizer.threshold() > 0
        && !held.sharesPrioritizer()) {
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
    boolean any = prioritizers.calibrateNamed();
    for (PinnedLimit held : pinned.values()) {
      Prioritizer prioritizer = held.prioritizer();
      if (prioritizer != null) {
        if (!held.sharesPrioritizer()) {
          prioritizer.calibrate();
        }
        any = true;
      }
    }
    if (any) {
      calibrateSoon();
    }
  }
}
