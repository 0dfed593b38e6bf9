package io.throttlekit.share;

import io.throttlekit.TimeSource;
import io.throttlekit.Timer;
import io.throttlekit.Wakeups;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.DigestedLimit;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.limiter.AdaptiveLimiter;
import io.throttlekit.limiter.Ceiling;
import io.throttlekit.limiter.LimiterBuilder;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Heartbeat.Publication;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A node's part in one concurrency limit of a fleet: an {@link AdaptiveLimiter} that admits no more
 * than the node's share, and the heartbeats by which the share follows demand.
 *
 * <p>While the limit of the fleet is constant, the requests in flight of all nodes never exceed it,
 * if shares are {@linkplain Coordination#acknowledged acknowledged} and no node's clock runs slower
 * than the coordinator's by more than the fence margin within a lease. A node stops to admit before
 * its lease ends, by its own clock, so that the coordinator may give its share to others.
 *
 * <p>Heartbeats are sent at intervals, and at once (but not more often than the least interval)
 * when a request is refused below an equal share, when the requests in flight have fallen to a
 * lowered share, when a changed share or a new limit has to be acknowledged or published. In a
 * steady state none of these happens.
 *
 * <p>Thread-safe; never blocks.
 */
public final class DistributedLimiter implements AutoCloseable {

  /** What applies to a node whose coordinator does not answer. */
  public enum OnOutage {
    /** Its share, until shortly before its lease ends; then nothing is admitted. */
    FAIL_CLOSED,

    /** The limit of the fleet, at each node. The fleet may exceed it by a factor of its size. */
    LOCAL_ONLY
  }

  /**
   * The most heartbeats that wait for an answer: a coordinator that hangs must not collect more.
   */
  private static final int MAX_WAITING = 4;

  private static final long RESOLUTION_NANOS = 1_000_000;

  private final Membership membership;
  private final ConcurrencyCoordinator coordinator;
  private final TimeSource time;
  private final MembershipListener listener;
  private final LongSupplier incarnations;
  private final DigestedLimit limit;
  private final Steering steering;
  private final AdaptiveLimiter limiter;
  private final Wakeups wakeups;
  private final AtomicBoolean fenced = new AtomicBoolean();

  /** Read by each admission; written under the lock of this. */
  private volatile int share;

  private volatile long fenceNanos;
  private volatile boolean leased;
  private volatile boolean closed;

  /** Permits below which a refused request calls for more; written under the lock of this. */
  private volatile int equalShare;

  /** Requests in flight by the last heartbeat, if they were above the share; else 0. */
  private volatile int reportedDebt;

  /** When the last heartbeat was sent, and the next one is due; written under the lock of this. */
  private volatile long beatNanos;

  private volatile long dueNanos;

  private volatile FleetFigures figures = new FleetFigures(0, 0, 0, false, "", 0, false);

  // Guarded by this.
  private long incarnation;
  private long sequence;
  private long applied;
  private long generation;
  private long reportedGeneration;
  private int waiting;
  private @Nullable Publication publication;

  /**
   * Creates a node and sends its first heartbeat soon.
   *
   * @param coordinator of the fleet, with the same {@link Coordination} on all nodes
   * @param aggregate that of the coordinator
   * @param algorithms creates a limit algorithm that starts at a limit: that of the node with
   *     {@link Aggregate#MIN} and {@link Aggregate#MEDIAN}, that of the fleet with {@link
   *     Aggregate#POOLED}
   * @param initial limit of the fleet before it is known, from 1
   * @param timer follows {@code time}
   * @param incarnations random numbers
   * @param settings of the limiter, such as its queue; its algorithm, ceiling and clock are set
   */
  @SuppressWarnings("this-escape") // the first heartbeat is sent last
  public DistributedLimiter(
      Membership membership,
      ConcurrencyCoordinator coordinator,
      Aggregate aggregate,
      IntFunction<ConcurrencyLimit> algorithms,
      int initial,
      TimeSource time,
      Timer timer,
      MembershipListener listener,
      LongSupplier incarnations,
      UnaryOperator<LimiterBuilder> settings) {
    this.membership = membership;
    this.coordinator = coordinator;
    this.time = time;
    this.listener = listener;
    this.incarnations = incarnations;
    this.steering = new Steering(algorithms);
    this.limit =
        aggregate == Aggregate.POOLED
            ? DigestedLimit.ofFleet(initial)
            : DigestedLimit.ofNode(algorithms, initial, () -> share);
    this.limiter =
        settings.apply(AdaptiveLimiter.of(limit).time(time, timer).ceiling(new Share())).build();
    this.wakeups = new Wakeups(timer, RESOLUTION_NANOS, this::wake);
    long now = time.monotonicNanos();
    this.incarnation = incarnations.getAsLong();
    this.beatNanos = now - membership.heartbeatNanos();
    this.dueNanos = now;
    wakeups.by(now, now);
  }

  /** Returns the limiter that admits the requests of this node. */
  public AdaptiveLimiter limiter() {
    return limiter;
  }

  /** Returns the current figures. They are not read atomically together. */
  public FleetFigures figures() {
    FleetFigures last = figures;
    boolean isFenced = isFenced();
    return new FleetFigures(
        Math.min(ceiling(), limiter.figures().limit()),
        last.limit(),
        last.nodes(),
        isFenced,
        last.steering(),
        last.epoch(),
        last.sameId());
  }

  /**
   * Leaves the fleet: nothing is admitted from here on. What is in flight stays reserved until the
   * lease ends.
   */
  @Override
  public void close() {
    Departure departure;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      share = 0;
      limiter.ceilingFell();
      departure =
          new Departure(
              membership.key(), membership.node(), incarnation, limiter.figures().inFlight());
    }
    limiter.close();
    var _ = coordinator.leave(departure).exceptionally(_ -> null); // then its lease ends by itself
  }

  /** The bound that the limiter checks with each admission. */
  private final class Share implements Ceiling {
    @Override
    public int requests() {
      return ceiling();
    }

    @Override
    public void released(int inFlight) {
      if (reportedDebt > 0 && inFlight <= share) {
        reportedDebt = 0;
        beatSoon();
      }
    }

    @Override
    public void refused() {
      if (share < equalShare) {
        beatSoon();
      }
    }
  }

  private int ceiling() {
    if (closed) {
      return 0;
    }
    if (membership.onOutage() == OnOutage.LOCAL_ONLY && (!leased || isOver())) {
      return Integer.MAX_VALUE;
    }
    return isFenced() ? 0 : share;
  }

  private boolean isFenced() {
    return membership.onOutage() == OnOutage.FAIL_CLOSED && leased && isOver();
  }

  private boolean isOver() {
    return time.monotonicNanos() - fenceNanos >= 0;
  }

  /** Sends a heartbeat as soon as the least interval allows. */
  private void beatSoon() {
    if (isDueSoon()) { // without the lock: called for each refused request
      return;
    }
    long soonest;
    synchronized (this) {
      if (isDueSoon()) {
        return;
      }
      soonest = beatNanos + membership.minHeartbeatNanos();
      dueNanos = soonest;
    }
    wakeups.by(soonest, time.monotonicNanos());
  }

  private boolean isDueSoon() {
    return closed || dueNanos - beatNanos <= membership.minHeartbeatNanos();
  }

  /** Sends the heartbeat that is due, and schedules the next one. */
  private void wake() {
    if (isFenced() && fenced.compareAndSet(false, true)) {
      listener.fenced();
    }
    Heartbeat beat = null;
    long now;
    long next;
    synchronized (this) {
      if (closed) {
        return;
      }
      now = time.monotonicNanos();
      if (dueNanos - now <= 0) {
        dueNanos = now + membership.heartbeatNanos();
        beatNanos = now;
        boolean joins =
            sequence > 0 && applied == 0 && waiting > 0; // a first heartbeat must not be overtaken
        if (waiting < MAX_WAITING && !joins) {
          waiting++;
          beat = report();
        }
      }
      next = leased && !isOver() && fenceNanos - dueNanos < 0 ? fenceNanos : dueNanos;
    }
    wakeups.by(next, now);
    if (beat != null) {
      send(beat, now);
    }
  }

  /** Reads the state of this node: first what it applies, then what is in flight by it. */
  private Heartbeat report() {
    SampleDigest digest = limit.take();
    int inFlight = limiter.figures().inFlight();
    reportedGeneration = generation;
    reportedDebt = inFlight > share ? inFlight : 0;
    return new Heartbeat(
        membership.key(),
        membership.node(),
        incarnation,
        ++sequence,
        limit.limit(),
        digest != null && digest.answered() + digest.dropped() > 0,
        inFlight,
        digest == null ? inFlight : Math.max(inFlight, digest.inFlight()),
        digest == null ? 0 : digest.refused(),
        generation,
        Math.max(1, membership.leaseNanos() / 1_000_000),
        publication,
        digest);
  }

  private void send(Heartbeat beat, long sentNanos) {
    CompletionStage<ShareGrant> answer;
    try {
      answer = coordinator.heartbeat(beat);
    } catch (RuntimeException bug) { // a lost answer must not end the heartbeats
      failed(bug);
      return;
    }
    var _ =
        answer.whenComplete((grant, failure) -> {
          if (grant == null) {
            failed(failure == null ? new IllegalStateException("no answer") : failure);
          } else {
            answered(beat, sentNanos, grant);
          }
        });
  }

  private void failed(Throwable why) {
    synchronized (this) {
      waiting--;
    }
    listener.failed(why);
  }

  private void answered(Heartbeat beat, long sentNanos, ShareGrant grant) {
    boolean beatAgain = false;
    boolean isUnfenced = false;
    synchronized (this) {
      waiting--;
      if (closed || beat.incarnation() != incarnation || beat.sequence() < applied) {
        return; // it answers an earlier question
      }
      applied = beat.sequence();
      if (grant.status() != ShareGrant.Status.MEMBER) {
        rejoin();
        beatAgain = grant.status() == ShareGrant.Status.EVICTED;
      } else {
        isUnfenced = apply(beat, sentNanos, grant);
        beatAgain = generation != reportedGeneration || isToPublish(grant);
      }
    }
    limiter.ceilingRose();
    if (isUnfenced) {
      listener.unfenced();
    }
    listener.granted(grant);
    if (beatAgain) {
      beatSoon();
    }
  }

  /** Applies a share. Returns whether it ends a fence. */
  private boolean apply(Heartbeat beat, long sentNanos, ShareGrant grant) {
    // By the time when it was sent: the coordinator's lease begins later, so it ends later.
    long until = sentNanos + membership.leaseNanos() - membership.fenceMarginNanos();
    if (!leased || until - fenceNanos > 0) {
      fenceNanos = until;
    }
    leased = true;
    limit.publish(grant.limit(), beat.sampled());
    equalShare = grant.limit() / Math.max(1, grant.nodes());
    share = grant.share();
    // No request may be admitted by the earlier share once this one is acknowledged.
    limiter.ceilingFell();
    generation = grant.generation();
    publication = steering.learn(grant, time.monotonicNanos());
    figures =
        new FleetFigures(
            grant.share(),
            grant.limit(),
            grant.nodes(),
            false,
            grant.steering(),
            grant.epoch(),
            grant.sameId());
    return !isOver() && fenced.compareAndSet(true, false);
  }

  private boolean isToPublish(ShareGrant grant) {
    Publication next = publication;
    return next != null && next.limit() != grant.limit();
  }

  /** Begins an incarnation: what the earlier one was granted is not acknowledged in it. */
  private void rejoin() {
    share = 0;
    limiter.ceilingFell();
    incarnation = incarnations.getAsLong();
    sequence = 0;
    applied = 0;
    generation = 0;
    publication = null;
  }
}
