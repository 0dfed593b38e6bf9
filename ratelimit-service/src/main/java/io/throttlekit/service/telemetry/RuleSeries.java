package io.throttlekit.service.telemetry;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the tally of a rule.
 *
 * <p>Rules of the current book with fixed names have theirs in an immutable identity map, built
 * when a new book is first seen: a lookup allocates nothing, and rules of earlier books are dropped
 * with their map. The names of other series come from requests, so at most {@code maxSeries} of
 * them are kept, with at most {@value #CHARS_PER_SERIES} characters each on average; decisions
 * beyond that are counted in one series per domain. Thread-safe.
 */
final class RuleSeries {

  /** The series of one book. */
  private record Fixed(
      @Nullable PolicyBook book,
      IdentityHashMap<Rule, Tally> ofRule,
      Map<SeriesName, Tally> named) {}

  /**
   * Bounds the metrics page in bytes, not only in lines: a name may have 256 characters per level.
   */
  private static final int CHARS_PER_SERIES = 64;

  private final Supplier<? extends @Nullable PolicyBook> policies;
  private final int maxSeries;
  private final Map<SeriesName, Tally> fromRequests = new ConcurrentHashMap<>();
  private final Map<String, Tally> others = new ConcurrentHashMap<>();
  private long charsFromRequests;
  private final LongAdder dropped = new LongAdder();
  private volatile Fixed fixed = new Fixed(null, new IdentityHashMap<>(), Map.of());

  RuleSeries(Supplier<? extends @Nullable PolicyBook> policies, int maxSeries) {
    this.policies = policies;
    this.maxSeries = maxSeries;
  }

  Tally of(Rule rule, String[] entries) {
    Tally known = fixed.ofRule.get(rule);
    return known != null ? known : find(rule, entries);
  }

  /** Returns how many decisions were counted in the series of their domain. */
  long dropped() {
    return dropped.sum();
  }

  /** Passes every series to {@code reader}, starting with those of the rules of the book. */
  void forEach(BiConsumer<SeriesName, Tally> reader) {
    refreshed().named.forEach(reader);
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
    Tally named = current.named.get(name);
    if (named == null) {
      named = fromRequests.get(name);
    }
    return named != null ? named : added(name, rule.domain());
  }

  private Tally added(SeriesName name, String domain) {
    // without the lock first: once full, decisions must not contend
    if (fromRequests.size() < maxSeries) {
      synchronized (this) {
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
    return book == current.book || book == null ? current : rebuilt(book);
  }

  private synchronized Fixed rebuilt(PolicyBook book) {
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
    Fixed now = new Fixed(book, ofRule, named);
    fixed = now;
    return now;
  }

  private Tally inherited(Fixed before, SeriesName name) {
    Tally fromRequest = fromRequests.remove(name);
    if (fromRequest != null) {
      charsFromRequests -= name.length();
    }
    Tally same = before.named.get(name);
    if (same != null) {
      return same;
    }
    return fromRequest != null ? fromRequest : new Tally();
  }
}
