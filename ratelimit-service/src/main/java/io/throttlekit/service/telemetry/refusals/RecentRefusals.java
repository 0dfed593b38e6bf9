package io.throttlekit.service.telemetry.refusals;

import io.throttlekit.Decision;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.DecisionListener;
import io.throttlekit.service.telemetry.refusals.TopRefusals.Refused;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;

/**
 * Shows who is limited: the keys that were refused most in the last one to two minutes, in front of
 * another listener. Thread-safe.
 *
 * <p>In each tenth of a second, the first {@link #EXACT} refusals are recorded one by one, and then
 * one in {@link #STRIDE} at random, which stands for the others. Those cost a clock reading: they
 * allocate nothing, and write nothing for which event loops would contend.
 */
public final class RecentRefusals implements DecisionListener {
  /** Refusals of a period that are recorded one by one. */
  static final int EXACT = 64;

  /** Refusals beyond them of which one is recorded on average. */
  static final int STRIDE = 64;

  /** Keys on the page. */
  static final int MAX_SHOWN = 20;

  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long TABLE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final TimeSource time;
  private final DecisionListener next;
  private final RefusalLog log;
  private final UnchargedCosts unchargedCosts;
  private final IntUnaryOperator random;
  private final AtomicLong periodEndNanos;
  private final AtomicInteger inPeriod = new AtomicInteger();

  private final Object lock = new Object();
  // Guarded by the lock: the table of this minute, and that of the minute before.
  private TopRefusals current = new TopRefusals();
  private List<Refused> before = List.of();
  private long currentSinceNanos;
  private long beforeSinceNanos;

  private RecentRefusals(
      TimeSource time,
      RefusalLog log,
      UnchargedCosts unchargedCosts,
      IntUnaryOperator random,
      DecisionListener next) {
    this.time = time;
    this.log = log;
    this.unchargedCosts = unchargedCosts;
    this.random = random;
    this.next = next;
    long now = time.monotonicNanos();
    this.periodEndNanos = new AtomicLong(now);
    this.currentSinceNanos = now;
    this.beforeSinceNanos = now;
  }

  /**
   * Creates an instance without refusals.
   *
   * @param logInterval of lines in the log; 0 for none
   * @param next receives all decisions, too
   */
  public static RecentRefusals of(TimeSource time, Duration logInterval, DecisionListener next) {
    return of(
        time,
        RefusalLog.thread(),
        logInterval,
        bound -> ThreadLocalRandom.current().nextInt(bound),
        next);
  }

  /**
   * Creates an instance that writes to the log by {@code timer}.
   *
   * @param random returns a number from 0 to below its argument; on any thread
   */
  static RecentRefusals of(
      TimeSource time,
      Scheduler timer,
      Duration logInterval,
      IntUnaryOperator random,
      DecisionListener next) {
    return new RecentRefusals(
        time, new RefusalLog(timer, logInterval), new UnchargedCosts(timer), random, next);
  }

  @Override
  public void decided(Rule rule, String[] entries, long hits, Decision decision, boolean shadow) {
    next.decided(rule, entries, hits, decision, shadow);
    unchargedCosts.decided(rule, entries, hits, decision);
    if (!decision.admitted() && hits > 0) {
      long now = time.monotonicNanos();
      long weight = weight(now);
      if (weight > 0) {
        record(
            new Refused(
                RefusedKey.of(rule, entries),
                weight,
                limit(rule, decision),
                decision.retryAfterMillis(),
                shadow,
                now));
      }
    }
  }

  @Override
  public void refusedFromCache(Rule rule, String[] entries, long hits) {
    next.refusedFromCache(rule, entries, hits);
  }

  @Override
  public void domainNotFound(String domain, int descriptors) {
    next.domainNotFound(domain, descriptors);
  }

  @Override
  public void globalShadow() {
    next.globalShadow();
  }

  /** Returns how many refusals this one stands for; 0 if it is not recorded. */
  private long weight(long now) {
    long end = periodEndNanos.get();
    // A difference, because monotonic time may overflow.
    if (now - end >= 0 && periodEndNanos.compareAndSet(end, now + PERIOD_NANOS)) {
      inPeriod.set(0);
    }
    // Read first: in a flood, event loops would contend for each increment.
    if (inPeriod.get() < EXACT && inPeriod.getAndIncrement() < EXACT) {
      return 1;
    }
    return random.applyAsInt(STRIDE) == 0 ? STRIDE : 0;
  }

  /** Returns the limit as answers report it: that of a decision may include a burst. */
  private static long limit(Rule rule, Decision decision) {
    return rule.limits().size() == 1 && rule.fairShare() == null
        ? rule.limits().getFirst().requestsPerUnit()
        : decision.limit();
  }

  private void record(Refused more) {
    synchronized (lock) {
      rotate(more.lastNanos());
      current.add(more);
    }
    log.add(more);
  }

  private void rotate(long now) {
    long age = now - currentSinceNanos;
    if (age >= TABLE_NANOS) {
      boolean isOld = age >= 2 * TABLE_NANOS;
      before = isOld ? List.of() : current.all();
      beforeSinceNanos = isOld ? now : currentSinceNanos;
      current = new TopRefusals();
      currentSinceNanos = now;
    }
  }

  /** Returns the keys that were refused most as a page of text. */
  public String page() {
    long now = time.monotonicNanos();
    Map<RefusedKey, Refused> recent = new HashMap<>();
    long since;
    synchronized (lock) {
      rotate(now);
      since = beforeSinceNanos;
      before.forEach(refused -> recent.put(refused.key(), refused));
      for (Refused refused : current.all()) {
        recent.merge(refused.key(), refused, (old, latest) -> latest.after(old.refusals()));
      }
    }
    StringBuilder page = new StringBuilder();
    page.append(
        "# refusals of the last %d s by key, the %d with the most; estimates above some hundred a second%n"
            .formatted(TimeUnit.NANOSECONDS.toSeconds(now - since), MAX_SHOWN));
    for (Refused refused : TopRefusals.top(new ArrayList<>(recent.values()), MAX_SHOWN)) {
      page.append(line(refused, now));
    }
    return page.toString();
  }

  private static String line(Refused refused, long now) {
    long retry = refused.retryAfterMillis();
    return "%s: %s: refusals=%d rule=%s limit=%d last=%ds retry_after=%s%s%n"
        .formatted(
            refused.key().domain(),
            refused.key().descriptor(),
            refused.refusals(),
            refused.key().rule(),
            refused.limit(),
            TimeUnit.NANOSECONDS.toSeconds(now - refused.lastNanos()),
            retry == Decision.NEVER ? "never" : Math.ceilDiv(retry, 1_000) + "s",
            refused.shadow() ? " shadow" : "");
  }
}
