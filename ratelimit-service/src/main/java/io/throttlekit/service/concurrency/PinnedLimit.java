package io.throttlekit.service.concurrency;

import io.throttlekit.CounterKey;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.LimitAlgorithms;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.AdaptiveLimiter;
import io.throttlekit.limiter.LimiterBuilder;
import io.throttlekit.limiter.LimiterListener;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.Queueing;
import io.throttlekit.limiter.tenants.TenantTerms;
import io.throttlekit.service.concurrency.OrphanedReleases.SharedKey;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.DistributedLimiter;
import io.throttlekit.share.Membership;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One concurrency limit of this process, or its part of one that replicas share: its limiter, and
 * the number of requests that use it. While that is above 0, the limit is pinned and cannot be
 * evicted.
 *
 * <p>Only {@link ConcurrencyLimits} counts pins, under the lock of the key. Thread-safe.
 */
final class PinnedLimit implements LimiterListener {
  private static final long PROCESS = 1L << Integer.SIZE;

  private final ConcurrencyLimits home;
  final CounterKey key;

  /** Names the limit in ids of permits; null if no replicas share limits. */
  private final @Nullable String tag;

  private volatile Rule rule;
  private volatile ConcurrencyRule terms;
  private volatile AdaptiveLimiter limiter;

  /** The part of a limit that replicas share, with {@link #limiter}; null if none share it. */
  private volatile @Nullable DistributedLimiter shared;

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
    this.tag = home.fleet == null ? null : PermitIds.tag(key.toString());
    this.moves = new LimitMoves(home.listener, terms.range().initial());
    this.priorities = PriorityTerms.of(terms.gate());
    this.prioritizer = home.prioritizers.of(rule.domain(), priorities);
    TenantTerms tenants = tenants(rule);
    this.shared = shared(terms, tenants, terms.range().initial());
    this.limiter = limiter(shared, terms, tenants, terms.range().initial());
  }

  /** Returns the rule that requested it last. */
  Rule rule() {
    return rule;
  }

  AdaptiveLimiter limiter() {
    return limiter;
  }

  /** Returns the name of the limit in ids of permits; null if no replicas share it. */
  @Nullable String tag() {
    return shared == null ? null : tag;
  }

  /** Returns the state of the limit among replicas, or null if none share it. */
  @Nullable FleetLimit fleetLimit() {
    DistributedLimiter node = shared;
    return node == null
        ? null
        : new FleetLimit(rule, key.toString(), node.figures(), node.limiter().figures().inFlight());
  }

  /**
   * Notes that a request arrives. Returns whether it can be decided now; if not, {@link
   * #whenJoined} waits for the share of this process.
   */
  boolean arrived() {
    DistributedLimiter node = shared;
    return node == null || node.arrived();
  }

  /** Runs {@code task} when the request can be decided, after {@code waitNanos} at the latest. */
  void whenJoined(long waitNanos, Runnable task) {
    DistributedLimiter node = shared;
    if (node == null) {
      task.run();
    } else {
      node.whenJoined(waitNanos, task);
    }
  }

  /** Leaves the replicas that share it; nothing is admitted from here on. */
  void close() {
    DistributedLimiter node = shared;
    if (node != null) {
      node.close();
    }
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
   * queue or coordination, or whether tenants share the limit, needs a new limiter, created only
   * while nothing uses this one.
   */
  @SuppressWarnings("ReferenceEquality") // requests between two reloads compare nothing else
  void pin(Rule rule, ConcurrencyRule terms) {
    if (pins == 0 && gate != terms.gate()) { // each reload creates new gates
      gate = terms.gate();
      PriorityTerms ranks = PriorityTerms.of(gate);
      TenantTerms tenants = tenants(rule);
      if (!sameLimiter(this.terms, terms)
          || !PriorityTerms.sameRanks(priorities, ranks)
          || limiter.isDivided() != (tenants != null)) {
        int current = current();
        close();
        priorities = ranks;
        prioritizer = home.prioritizers.of(rule.domain(), ranks);
        shared = shared(terms, tenants, current);
        limiter = limiter(shared, terms, tenants, current);
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
    DistributedLimiter node = shared;
    if (node != null && terms.gate() instanceof ConcurrencyRule.AtService service) {
      node.permitsLast(ttlNanos(service));
    }
    TenantTerms tenants = tenants(rule);
    if (tenants != null) {
      limiter.change(tenants);
    }
    synchronized (this) {
      this.rule = rule;
      PriorityTerms ranks = PriorityTerms.of(terms.gate());
      if (PriorityTerms.sameRanks(priorities, ranks)) {
        priorities = ranks; // the keys of the entries may have changed
      }
      if (this.terms.hasAlgorithmOf(terms)) {
        return;
      }
      this.terms = terms.withGate(this.terms.gate());
    }
    // outside the lock: it may admit queued requests
    if (node == null) {
      limiter.replaceAlgorithm(LimitAlgorithms.of(terms, current()));
    } else {
      node.replaceAlgorithms(limit -> LimitAlgorithms.ofFleet(terms, limit));
    }
  }

  /** Counts one use less, under the lock of the key, and returns whether none is left. */
  boolean unpinned() {
    return --pins == 0;
  }

  void unpin() {
    home.unpin(this);
  }

  private static boolean sameLimiter(ConcurrencyRule one, ConcurrencyRule other) {
    return one.gate() instanceof ConcurrencyRule.AtService first
        && other.gate() instanceof ConcurrencyRule.AtService second
        && Objects.equals(first.queue(), second.queue())
        && first.fleet().equals(second.fleet());
  }

  /** Returns the current limit: of all replicas, if they share it. */
  private int current() {
    DistributedLimiter node = shared;
    if (node == null) {
      return limiter.figures().limit();
    }
    int limit = node.figures().limit();
    return limit > 0 ? limit : terms.range().initial();
  }

  private @Nullable DistributedLimiter shared(
      ConcurrencyRule terms, @Nullable TenantTerms tenants, int initial) {
    Fleet fleet = home.fleet;
    if (fleet == null || !(terms.gate() instanceof ConcurrencyRule.AtService service)) {
      return null;
    }
    Coordination coordination = service.fleet().coordination();
    ConcurrencyCoordinator coordinator = fleet.coordinators().apply(coordination);
    OrphanedReleases orphans = home.orphans;
    SharedKey sharedKey =
        new SharedKey(
            key.toString(), Objects.requireNonNull(tag, "replicas share it"), coordinator);
    return new DistributedLimiter(
        Membership.of(key.toString(), fleet.node(), service.fleet().onOutage())
            .withPermits(ttlNanos(service)),
        coordinator,
        coordination.aggregate(),
        limit -> LimitAlgorithms.ofFleet(terms, limit),
        initial,
        home.time,
        home.timer,
        new FleetMember(
            fleet,
            this::rule,
            moves,
            remnants -> orphans.granted(sharedKey, remnants),
            home.time,
            home.timer,
            initial),
        // begins with the number of the process, by which releases of its permits name it
        () ->
            orphans.process() * PROCESS
                + Integer.toUnsignedLong((int) fleet.incarnations().getAsLong()),
        builder -> settings(builder, terms, tenants));
  }

  private static long ttlNanos(ConcurrencyRule.AtService service) {
    return TimeUnit.MILLISECONDS.toNanos(service.lease().ttlMillis());
  }

  private AdaptiveLimiter limiter(
      @Nullable DistributedLimiter node,
      ConcurrencyRule terms,
      @Nullable TenantTerms tenants,
      int initial) {
    return node != null
        ? node.limiter()
        : settings(
                AdaptiveLimiter.of(LimitAlgorithms.of(terms, initial))
                    .time(home.time, home.timer)
                    .listener(this),
                terms,
                tenants)
            .build();
  }

  private LimiterBuilder settings(
      LimiterBuilder builder, ConcurrencyRule terms, @Nullable TenantTerms tenants) {
    ConcurrencyRule.WaitingRoom queue =
        terms.gate() instanceof ConcurrencyRule.AtService service ? service.queue() : null;
    if (queue != null) {
      var _ = builder.queueing(Queueing.of(queue.initial(), queue.max()));
    }
    Prioritizer levels = prioritizer;
    if (levels != null) {
      var _ = builder.prioritizer(levels);
    }
    if (tenants != null) {
      var _ = builder.tenants(tenants);
    }
    return builder;
  }

  private static @Nullable TenantTerms tenants(Rule rule) {
    FairShare share = rule.fairShare();
    return share == null
        ? null
        : new TenantTerms(share.unlistedMillionths(), share.maxTenants(), TenantTerms.ACTIVE_NANOS);
  }
}
