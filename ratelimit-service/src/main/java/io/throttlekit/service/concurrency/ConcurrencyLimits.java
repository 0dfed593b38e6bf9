package io.throttlekit.service.concurrency;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.throttlekit.CounterKey;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.AdaptiveLimiter;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.limiter.tenants.TenantState;
import io.throttlekit.share.FleetFigures;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
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

  /**
   * A concurrency limit that tenants share, for display.
   *
   * @param rule that requested it last
   * @param key contains values of requests
   */
  public record DividedLimit(Rule rule, String key, AdaptiveLimiter limiter, ShareFigures figures) {

    /** Returns the tenants with the most requests in flight. */
    public List<TenantState> busiest(int most) {
      return limiter.busiestTenants(most);
    }
  }

  // Prioritizer expects about one calibration a second
  private static final long CALIBRATION_NANOS = TimeUnit.SECONDS.toNanos(1);

  final TimeSource time;
  final Scheduler timer;
  private final ConcurrentHashMap<CounterKey, PinnedLimit> pinned = new ConcurrentHashMap<>();
  private final Cache<CounterKey, PinnedLimit> known;
  private final AtomicBoolean calibrating = new AtomicBoolean();
  final ConcurrencyListener listener;
  final Prioritizers prioritizers;

  /** The replicas that share the limits, or null if none do. */
  final @Nullable Fleet fleet;

  /** Counts the releases of other replicas' permits that have died. */
  final OrphanedReleases orphans;

  /**
   * Creates an empty set.
   *
   * @param fleet the replicas that share the limits; null if none do
   * @param maxIdle idle concurrency limits to keep at most. A shared one that is evicted leaves its
   *     fleet by itself, because no request uses it
   */
  ConcurrencyLimits(
      TimeSource time,
      Scheduler timer,
      ConcurrencyListener listener,
      @Nullable Fleet fleet,
      OrphanedReleases orphans,
      int maxIdle) {
    this.time = time;
    this.timer = timer;
    this.listener = listener;
    this.fleet = fleet;
    this.orphans = orphans;
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
    all().forEach(held -> reader.accept(held.rule(), held.limiter().figures()));
  }

  /** Passes each concurrency limit that tenants share to {@code reader}. */
  public void forEachDivided(Consumer<DividedLimit> reader) {
    for (PinnedLimit held : all()) {
      AdaptiveLimiter limiter = held.limiter();
      ShareFigures figures = limiter.shareFigures();
      if (figures != null) {
        reader.accept(new DividedLimit(held.rule(), held.key.toString(), limiter, figures));
      }
    }
  }

  /** Passes each concurrency limit that replicas share to {@code reader}. */
  public void forEachShared(Consumer<FleetLimit> reader) {
    if (fleet == null) {
      return;
    }
    for (PinnedLimit held : all()) {
      FleetLimit limit = held.fleetLimit();
      if (limit != null) {
        reader.accept(limit);
      }
    }
  }

  /**
   * Returns the state among replicas of the limit that a descriptor with these entries reaches;
   * null if it is not known, or none share it.
   */
  public @Nullable FleetFigures shared(Rule rule, String[] entries) {
    if (fleet == null) {
      return null;
    }
    CounterKey key = CounterKey.of(rule.limiterScope(), rule.chargedEntries(entries));
    PinnedLimit used = pinned.get(key);
    PinnedLimit held = used != null ? used : known.getIfPresent(key);
    FleetLimit limit = held == null ? null : held.fleetLimit();
    return limit == null ? null : limit.figures();
  }

  /** Returns the id of this process among the replicas that share limits; null if none do. */
  public @Nullable String node() {
    return fleet == null ? null : fleet.node();
  }

  /** Leaves the replicas that share the limits, which admit nothing from here on. */
  void close() {
    if (fleet != null) {
      all().forEach(PinnedLimit::close);
    }
  }

  private Collection<PinnedLimit> all() {
    known.cleanUp(); // expired ones stay in memory until the cache is used
    Map<CounterKey, PinnedLimit> all = new HashMap<>(known.asMap());
    all.putAll(pinned);
    return all.values();
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
