package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.service.admission.DecisionListener;
import io.throttlekit.service.rls.CallListener;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import io.throttlekit.service.telemetry.statsd.StatsdSource;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metrics of the decisions.
 *
 * <p>Decisions increment counters in memory, which instruments read at every collection. Rules of
 * the current book with fixed names have their tally in an immutable identity map, built when a new
 * book is first seen: a lookup allocates nothing, and rules of earlier books are dropped with their
 * map. The counts of rules that a book no longer has are kept until the book after it, so that they
 * are collected once more, and go on if the rules come back. The names of other series come from
 * requests, so at most {@code maxSeries} of them are kept, with at most {@value #CHARS_PER_SERIES}
 * characters each on average; decisions beyond that are counted in one series per domain. Unknown
 * domains have at most {@value #MAX_UNKNOWN_DOMAINS} series. Thread-safe.
 */
public final class RateLimitMetrics implements DecisionListener, CallListener, StatsdSource {
  /** Maximum number of unknown domains with a series of their own: callers choose their names. */
  static final int MAX_UNKNOWN_DOMAINS = 32;

  private static final Logger LOG = LoggerFactory.getLogger(RateLimitMetrics.class);

  /**
   * Bounds the metrics page in bytes, not only in lines: a name may have 256 characters per level.
   */
  private static final int CHARS_PER_SERIES = 64;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final Attributes SHOULD_RATE_LIMIT =
      Attributes.of(AttributeKey.stringKey("grpc_method"), "ShouldRateLimit");

  /** Prometheus' default buckets up to 10 s, with finer ones for answers from memory. */
  static final List<Double> RESPONSE_SECONDS =
      List.of(
          .000_05, .000_1, .000_25, .000_5, .001, .002_5, .005, .01, .025, .05, .1, .25, .5, 1.0,
          2.5, 5.0, 10.0);

  /**
   * The series of one book.
   *
   * @param removed those of the book before it that it does not have
   */
  private record Fixed(
      @Nullable PolicyBook book,
      IdentityHashMap<Rule, Tally> ofRule,
      Map<SeriesName, Tally> named,
      Map<SeriesName, Tally> removed) {

    @Nullable Tally tally(SeriesName name) {
      Tally tally = named.get(name);
      return tally != null ? tally : removed.get(name);
    }
  }

  private final Supplier<? extends @Nullable PolicyBook> policies;
  private final Executor logger = RuleLog.thread("unknown-domains");
  private final float nearLimitRatio;
  private final int maxSeries;
  private final DoubleHistogram responseTime;
  private final Map<SeriesName, Tally> fromRequests = new ConcurrentHashMap<>();
  private final Map<String, Tally> others = new ConcurrentHashMap<>(); // by domain

  /** Guards additions to the series from requests, and changes of the book. */
  private final Object lock = new Object();

  private long charsFromRequests; // guarded by the lock
  private final LongAdder dropped = new LongAdder();
  private volatile Fixed fixed = new Fixed(null, new IdentityHashMap<>(), Map.of(), Map.of());
  // Read by the instruments.
  final UnknownDomains unknownDomains;
  final LongAdder admitted = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder shadowed = new LongAdder();
  final LongAdder refundedHits = new LongAdder();
  final LongAdder answered = new LongAdder();
  final LongAdder globalShadow = new LongAdder();
  final LongAdder goodLoads = new LongAdder();
  final LongAdder badLoads = new LongAdder();
  final ByWord<Failure> failures = new ByWord<>(Failure.class);
  final ByWord<Abandonment> abandonments = new ByWord<>(Abandonment.class);
  volatile boolean lastLoadOk;
  private volatile LongConsumer responseTimeListener = _ -> {};

  /**
   * Registers all instruments.
   *
   * @param policies supplies the current book, or null while there is none
   * @param counters returns how many counters the store holds
   * @param evicted returns how many counters the store dropped before their windows ended
   * @param nearLimitRatio fraction of a limit from which a hit is near it, from 0 to 1
   * @param maxSeries maximum number of series whose names come from requests
   */
  public RateLimitMetrics(
      Meter meter,
      Supplier<? extends @Nullable PolicyBook> policies,
      LongSupplier counters,
      LongSupplier evicted,
      double nearLimitRatio,
      int maxSeries) {
    this.policies = policies;
    this.maxSeries = maxSeries;
    this.unknownDomains =
        new UnknownDomains(Math.min(maxSeries, MAX_UNKNOWN_DOMAINS), this::logUnknownDomain);
    this.nearLimitRatio = (float) nearLimitRatio;
    this.responseTime =
        meter
            .histogramBuilder("ratelimit_service_response_time_seconds")
            .setUnit("s")
            .setExplicitBucketBoundariesAdvice(RESPONSE_SECONDS)
            .build();
    new Instruments(meter, this).register(counters, evicted);
  }

  @Override
  public void decided(Rule rule, String[] entries, long hits, Decision decision, boolean shadow) {
    if (hits < 0) {
      refundedHits.add(-hits);
      return;
    }
    if (decision.admitted()) {
      admitted.increment();
    } else if (shadow) {
      shadowed.increment();
    } else {
      refused.increment();
    }
    Tally known = fixed.ofRule.get(rule);
    Tally tally = known != null ? known : find(rule, entries);
    tally.add(hits, decision, nearLimitRatio, shadow);
  }

  @Override
  public void refusedFromCache(Rule rule, String[] entries, long hits) {
    Tally known = fixed.ofRule.get(rule);
    Tally tally = known != null ? known : find(rule, entries);
    tally.fromCache.add(hits);
  }

  @Override
  public void domainNotFound(String domain, int descriptors) {
    unknownDomains.count(domain, descriptors);
  }

  private void logUnknownDomain(String domain) {
    PolicyBook book = policies.get();
    String near = book == null ? null : Wording.nearest(domain, book.domains());
    Runnable line =
        () ->
            LOG.warn(
                "requests name the domain {}, which no policy has: nothing limits them{}",
                Wording.quote(domain),
                near == null ? "" : " (did you mean " + Wording.quote(near) + "?)");
    try {
      logger.execute(line);
    } catch (RejectedExecutionException _) {
      // A slow log. The metric names the domain all the same.
    }
  }

  @Override
  public void answered(long nanos) {
    answered.increment();
    responseTime.record(nanos / NANOS_PER_SECOND, SHOULD_RATE_LIMIT);
    responseTimeListener.accept(nanos);
  }

  @Override
  public void failed(Failure failure) {
    failures.increment(failure);
  }

  @Override
  public void abandoned(Abandonment how) {
    abandonments.increment(how);
  }

  @Override
  public void globalShadow() {
    globalShadow.increment();
  }

  /** Returns whether there are policies, so that calls can be decided. */
  boolean hasPolicies() {
    return policies.get() != null;
  }

  /** Counts a load of the policies. */
  public void policiesLoaded(boolean ok) {
    (ok ? goodLoads : badLoads).increment();
    lastLoadOk = ok;
  }

  @Override
  public void read(StatsdSource.Reader reader) {
    new EnvoyStatistics(this, reader).read();
  }

  /** Passes the time of each answer, in ns, to {@code listener} as well, which does not block. */
  public void addResponseTimeListener(LongConsumer listener) {
    responseTimeListener = responseTimeListener.andThen(listener);
  }

  /** Returns how many decisions and unknown domains were counted as {@code other}. */
  long droppedSeries() {
    return dropped.sum() + unknownDomains.gathered();
  }

  /** Passes every series to {@code reader}, starting with those of the rules of the book. */
  void forEachSeries(BiConsumer<SeriesName, Tally> reader) {
    Fixed current = refreshed();
    current.named.forEach(reader);
    current.removed.forEach(reader);
    fromRequests.forEach(reader);
    others.forEach((domain, tally) -> reader.accept(SeriesName.otherOf(domain), tally));
  }

  private Tally find(Rule rule, String[] entries) {
    Fixed current = refreshed();
    Tally known = current.ofRule.get(rule);
    if (known != null) {
      return known;
    }
    SeriesName name = SeriesName.of(rule.domain(), rule.metricKeys(entries));
    Tally named = current.tally(name);
    if (named == null) {
      named = fromRequests.get(name);
    }
    return named != null ? named : added(name, rule.domain());
  }

  private Tally added(SeriesName name, String domain) {
    // without the lock first: once full, decisions must not contend
    if (fromRequests.size() < maxSeries) {
      synchronized (lock) {
        Tally present = fromRequests.get(name);
        if (present != null) {
          return present;
        }
        long chars = charsFromRequests + name.length();
        if (fromRequests.size() < maxSeries && chars <= (long) CHARS_PER_SERIES * maxSeries) {
          Tally tally = new Tally();
          fromRequests.put(name, tally);
          charsFromRequests = chars;
          return tally;
        }
      }
    }
    dropped.increment();
    return others.computeIfAbsent(domain, any -> new Tally());
  }

  private Fixed refreshed() {
    Fixed current = fixed;
    PolicyBook book = policies.get();
    if (book == current.book || book == null) {
      return current;
    }
    synchronized (lock) {
      return rebuilt(book);
    }
  }

  private Fixed rebuilt(PolicyBook book) {
    Fixed before = fixed;
    if (before.book == book) {
      return before;
    }
    IdentityHashMap<Rule, Tally> ofRule = new IdentityHashMap<>();
    Map<SeriesName, Tally> named = new HashMap<>();
    for (Rule rule : book.rules()) {
      if (!rule.unlimited() && !rule.dynamicMetricKeys()) {
        SeriesName name = SeriesName.of(rule.domain(), rule.metricKeys(new String[0]));
        ofRule.put(rule, named.computeIfAbsent(name, key -> inherited(before, key)));
      }
    }
    if (fromRequests.size() >= maxSeries
        || charsFromRequests > (long) CHARS_PER_SERIES * maxSeries - SeriesName.MAX_LENGTH) {
      charsFromRequests = 0;
      fromRequests.clear(); // otherwise values of removed rules would fill it permanently
    }
    // domains of removed policies would stay for ever
    others.keySet().retainAll(book.domains());
    Map<SeriesName, Tally> removed = new HashMap<>(before.named);
    removed.keySet().removeAll(named.keySet());
    Fixed now = new Fixed(book, ofRule, named, removed);
    fixed = now;
    return now;
  }

  private Tally inherited(Fixed before, SeriesName name) {
    Tally fromRequest = fromRequests.remove(name);
    if (fromRequest != null) {
      charsFromRequests -= name.length();
    }
    Tally same = before.tally(name);
    if (same != null) {
      return same;
    }
    return fromRequest != null ? fromRequest : new Tally();
  }
}
