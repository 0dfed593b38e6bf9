package io.throttlekit.service.concurrency;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.concurrency.LimiterFigures;
import io.throttlekit.concurrency.Prioritizer;
import io.throttlekit.descriptors.Ceiling;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.tier.Timer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/**
 * The ceilings of this process, by domain and entries.
 *
 * <p>Those that requests have to do with are all kept; of the others, with what their laws have
 * learned, a bounded number. Thread-safe.
 */
public final class Ceilings {
  private static final long CALIBRATION_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TimeSource time;
  private final Timer timer;
  private final ConcurrentHashMap<CounterKey, HeldCeiling> pinned = new ConcurrentHashMap<>();
  private final Cache<CounterKey, HeldCeiling> known;
  private final AtomicBoolean calibrating = new AtomicBoolean();

  /**
   * No ceiling yet.
   *
   * @param mostIdle ceilings to know while nothing is in flight below them
   */
  Ceilings(TimeSource time, Timer timer, int mostIdle) {
    this.time = time;
    this.timer = timer;
    this.known = Caffeine.newBuilder().maximumSize(mostIdle).executor(Runnable::run).build();
  }

  TimeSource time() {
    return time;
  }

  Timer timer() {
    return timer;
  }

  /** The ceiling of the entries, which stays until it is unpinned as often as this was called. */
  HeldCeiling pin(Rule rule, Ceiling terms, String[] entries) {
    CounterKey key = CounterKey.of(rule.ceilingScope(), rule.chargedEntries(entries));
    HeldCeiling held =
        pinned.compute(
            key,
            (_, current) -> {
              HeldCeiling found =
                  current != null
                      ? current
                      : known.get(key, _ -> new HeldCeiling(this, key, rule, terms));
              found.pin(rule, terms);
              return found;
            });
    held.follow(rule, terms);
    if (held.prioritizer() != null) {
      calibrateSoon();
    }
    return held;
  }

  void unpin(HeldCeiling held) {
    HeldCeiling left =
        pinned.computeIfPresent(
            held.key(),
            (key, current) -> {
              if (!current.unpinned()) {
                return current;
              }
              known.put(key, current);
              return null;
            });
    Prioritizer prioritizer = held.prioritizer();
    if (left == null && prioritizer != null) { // nobody calibrates it until somebody comes again
      prioritizer.calibrate();
    }
  }

  /** Shows each ceiling with the rule that was last asked for it. */
  public void forEach(BiConsumer<Rule, LimiterFigures> reader) {
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
    if (!calibrating.get() && calibrating.compareAndSet(false, true)) {
      timer.runAfter(CALIBRATION_NANOS, this::calibrate);
    }
  }

  private void calibrate() {
    calibrating.set(false);
    boolean any = false;
    for (HeldCeiling held : pinned.values()) {
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
