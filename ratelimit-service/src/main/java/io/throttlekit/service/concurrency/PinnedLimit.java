package io.throttlekit.service.concurrency;

import io.throttlekit.CounterKey;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.LimitAlgorithms;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limiter.AdaptiveLimiter;
import io.throttlekit.limiter.LimiterBuilder;
import io.throttlekit.limiter.LimiterListener;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.Queueing;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One concurrency limit of this process: its limiter, and the number of requests that use it. While
 * that is above 0, the limit is pinned and cannot be evicted.
 *
 * <p>Only {@link ConcurrencyLimits} counts pins, under the lock of the key. Thread-safe.
 */
final class PinnedLimit implements LimiterListener {
  private final ConcurrencyLimits home;
  final CounterKey key;
  private volatile Rule rule;
  private volatile ConcurrencyRule terms;
  private volatile AdaptiveLimiter limiter;
  private volatile @Nullable PriorityTerms priorities;
  private volatile @Nullable Prioritizer prioritizer;
  private final LimitMoves moves;
  final ReportedEnds ends = new ReportedEnds();
  private int pins;

  /** The gate that was compared last. Guarded by the lock of the key. */
  private ConcurrencyRule.Gate gate;

  PinnedLimit(ConcurrencyLimits home, CounterKey key, Rule rule, ConcurrencyRule terms) {
    this.home = home;
    this.key = key;
    this.rule = rule;
    this.terms = terms;
    this.gate = terms.gate();
    this.moves = new LimitMoves(home.listener, terms.range().initial());
    this.priorities = PriorityTerms.of(terms.gate());
    this.prioritizer = home.prioritizers.of(rule.domain(), priorities);
    this.limiter = limiter(terms, LimitAlgorithms.of(terms, terms.range().initial()));
  }

  /** Returns the rule that requested it last. */
  Rule rule() {
    return rule;
  }

  AdaptiveLimiter limiter() {
    return limiter;
  }

  /**
   * Returns the prioritizer that assigns levels to requests, or null if all have the same priority.
   */
  @Nullable Prioritizer prioritizer() {
    return prioritizer;
  }

  /** Returns the terms of the prioritizer, or null if there is none. */
  @Nullable PriorityTerms priorities() {
    return priorities;
  }

  /** Returns whether other limits may use its prioritizer. */
  boolean sharesPrioritizer() {
    PriorityTerms terms = priorities;
    return terms != null && terms.prioritizer() != null;
  }

  @Override
  public void limitChanged(int before, int now) {
    moves.update(rule, before, now);
  }

  /**
   * Counts one more use. Runs under the lock of the key and therefore notifies no listener. Another
   * queue needs a new limiter, which is created only while nothing uses this one.
   */
  @SuppressWarnings("ReferenceEquality") // requests between two reloads compare nothing else
  void pin(Rule rule, ConcurrencyRule terms) {
    if (pins == 0 && gate != terms.gate()) { // each reload creates new gates
      gate = terms.gate();
      PriorityTerms ranks = PriorityTerms.of(gate);
      if (!sameQueue(this.terms, terms) || !PriorityTerms.sameRanks(priorities, ranks)) {
        ConcurrencyLimit algorithm = algorithm(terms);
        priorities = ranks;
        prioritizer = home.prioritizers.of(rule.domain(), ranks);
        limiter = limiter(terms, algorithm);
        this.terms = terms;
      }
    }
    pins++;
  }

  /**
   * Applies the limit algorithm, its parameters and range if they changed in the rule; the new
   * algorithm starts at the current limit.
   */
  void follow(Rule rule, ConcurrencyRule terms) {
    // by identity: a reload creates new rules, and requests in between skip the lock
    if (this.rule == rule) {
      return;
    }
    ConcurrencyLimit algorithm;
    synchronized (this) {
      this.rule = rule;
      PriorityTerms ranks = PriorityTerms.of(terms.gate());
      if (PriorityTerms.sameRanks(priorities, ranks)) {
        priorities = ranks; // the keys of the entries may have changed
      }
      if (this.terms.hasAlgorithmOf(terms)) {
        return;
      }
      algorithm = algorithm(terms);
      this.terms = terms.withGate(this.terms.gate());
    }
    limiter.replaceAlgorithm(algorithm); // outside the lock: it may admit queued requests
  }

  /** Counts one use less, under the lock of the key, and returns whether none is left. */
  boolean unpinned() {
    return --pins == 0;
  }

  void unpin() {
    home.unpin(this);
  }

  private static boolean sameQueue(ConcurrencyRule one, ConcurrencyRule other) {
    return one.gate() instanceof ConcurrencyRule.AtService first
        && other.gate() instanceof ConcurrencyRule.AtService second
        && Objects.equals(first.queue(), second.queue());
  }

  private ConcurrencyLimit algorithm(ConcurrencyRule terms) {
    return LimitAlgorithms.of(terms, limiter.figures().limit());
  }

  private AdaptiveLimiter limiter(ConcurrencyRule terms, ConcurrencyLimit algorithm) {
    LimiterBuilder builder =
        AdaptiveLimiter.of(algorithm).time(home.time, home.timer).listener(this);
    ConcurrencyRule.WaitingRoom queue =
        terms.gate() instanceof ConcurrencyRule.AtService service ? service.queue() : null;
    if (queue != null) {
      var _ = builder.queueing(Queueing.of(queue.initial(), queue.max()));
    }
    Prioritizer levels = prioritizer;
    if (levels != null) {
      var _ = builder.prioritizer(levels);
    }
    return builder.build();
  }
}
