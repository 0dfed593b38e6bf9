package io.throttlekit.share;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.DigestedLimit;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.limiter.AdaptiveLimiter;
import io.throttlekit.limiter.LimiterBuilder;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.share.Coordination.Aggregate;
import java.util.List;
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
 * lowered share, when a changed share or a new limit has to be acknowledged or published, when this
 * node measures at a lowered limit, when the load shifts ({@link DigestedLimit#takeShift}), and
 * while the steering node calls for it. In a steady state none of these happens.
 *
 * <p>A node without requests leaves the fleet after a while and sends nothing until the next one,
 * for which it joins at once. Until the first answer its share is 0: a request that should wait for
 * it calls {@link #whenJoined}.
 *
 * <p>Thread-safe; never blocks.
 */
public final class DistributedLimiter implements AutoCloseable {

  /** The most heartbeats that wait for an answer, of a coordinator that hangs. */
  private static final int MAX_WAITING = 4;

  private final Membership membership;
  private final Departures departures;
  private final ConcurrencyCoordinator coordinator;
  private final TimeSource time;
  private final MembershipListener listener;
  private final LongSupplier incarnations;
  private final DigestedLimit limit;
  private final FleetAlgorithm steering;
  private final LeasedShare share;
  private final AdaptiveLimiter limiter;
  private final JoinQueue joining;
  private final HeartbeatSchedule schedule;

  /** Whether the listener was notified that nothing is admitted. */
  private final AtomicBoolean fenced = new AtomicBoolean();

  private volatile boolean closed;
  private volatile long permitNanos;
  private volatile FleetFigures figures = new FleetFigures(0, 0, 0, false, "", 0, false);

  // Guarded by this.
  private int max; // of the limit by this node's own terms, whatever the coordinator answers
  private long usedNanos;
  private Incarnation incarnation;
  private int waiting;
  private @Nullable NodeHeartbeat pending;

  /**
   * Creates a node and sends its first heartbeat soon.
   *
   * @param coordinator of the fleet, with the same {@link Coordination} on all nodes
   * @param aggregate that of the coordinator
   * @param algorithms creates a limit algorithm that starts at a limit: that of the node with
   *     {@link Aggregate#MIN} and {@link Aggregate#MEDIAN}, that of the fleet with {@link
   *     Aggregate#POOLED}. This node applies no more than the {@link ConcurrencyLimit#max} of these
   * @param initial limit of the fleet before it is known, from 1
   * @param timer follows {@code time}
   * @param incarnations random numbers
   * @param settings of the limiter, such as its queue; its algorithm, bound and clock are set
   */
  @SuppressWarnings("this-escape") // the first heartbeat is sent last
  public DistributedLimiter(
      Membership membership,
      ConcurrencyCoordinator coordinator,
      Aggregate aggregate,
      IntFunction<ConcurrencyLimit> algorithms,
      int initial,
      TimeSource time,
      Scheduler timer,
      MembershipListener listener,
      LongSupplier incarnations,
      UnaryOperator<LimiterBuilder> settings) {
    this.membership = membership;
    this.coordinator = coordinator;
    this.time = time;
    this.listener = listener;
    this.incarnations = incarnations;
    this.permitNanos = membership.permitNanos();
    this.departures = new Departures(coordinator, timer, membership.heartbeatNanos(), listener);
    this.max = algorithms.apply(initial).max();
    this.steering = new FleetAlgorithm(algorithms, aggregate, membership.heartbeatNanos());
    this.schedule = new HeartbeatSchedule(membership, time, timer, this::wake);
    this.share =
        new LeasedShare(
            membership.onOutage(), time, schedule::soon, schedule::awake, this::released);
    this.limit =
        aggregate == Aggregate.POOLED
            ? DigestedLimit.ofFleet(initial)
            : DigestedLimit.ofNode(algorithms, initial, share::share);
    this.limiter = settings.apply(AdaptiveLimiter.of(limit).time(time, timer).bound(share)).build();
    this.joining = new JoinQueue(timer);
    this.usedNanos = time.monotonicNanos();
    this.incarnation = new Incarnation(membership, incarnations.getAsLong());
    schedule.start();
  }

  /** Returns the limiter that admits the requests of this node. */
  public AdaptiveLimiter limiter() {
    return limiter;
  }

  /**
   * Notes that a request arrives. It keeps this node in the fleet, or lets it join again.
   *
   * @return whether the share is known, so that the request can be decided now; if not, {@link
   *     #whenJoined} waits for it
   */
  public boolean arrived() {
    share.use();
    return isDecided();
  }

  /**
   * Joins the fleet at once if this node is no member, and waits for that or until time is up.
   *
   * @param waitNanos how long to wait, from 0
   * @param task called once, before this returns or later, on any thread
   */
  public void whenJoined(long waitNanos, Runnable task) {
    share.use();
    if (isDecided() || waitNanos <= 0) {
      task.run();
      return;
    }
    joining.add(Math.min(waitNanos, membership.leaseNanos()), task);
    wake();
    if (isDecided()) { // it may have joined before the task was added
      joining.runAll();
    }
  }

  /**
   * Replaces the limit algorithms, for a changed rule. The new ones start at the current limits. A
   * lower {@linkplain ConcurrencyLimit#max most} applies at once, a higher one with an answer.
   *
   * @param algorithms creates an algorithm that starts at a limit
   */
  public void replaceAlgorithms(IntFunction<ConcurrencyLimit> algorithms) {
    synchronized (this) {
      max = algorithms.apply(limit.limit()).max();
      limit.publish(Math.min(limit.limit(), max), true); // a raised one comes with an answer
      incarnation.publish(steering.replace(algorithms));
      limit.replace(algorithms);
    }
    limiter.boundRaised(); // the limit of this node may have risen
    schedule.soon();
  }

  /**
   * Notes that requests may last longer, if they go on without this node. A shorter time has no
   * effect: earlier requests may last longer.
   */
  public void permitsLast(long nanos) {
    synchronized (this) {
      if (nanos <= permitNanos) {
        return;
      }
      permitNanos = nanos;
    }
    schedule.soon();
  }

  /** Returns the current figures. They are not read atomically together. */
  public FleetFigures figures() {
    FleetFigures last = figures;
    boolean isFenced = share.isFenced() || (fenced.get() && !schedule.isDormant());
    return last.with(Math.min(share.requests(), limiter.figures().limit()), isFenced);
  }

  /**
   * Leaves the fleet: nothing is admitted from here on. What is in flight stays reserved until it
   * has ended by its time to live.
   */
  @Override
  public void close() {
    Departure departure;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      schedule.close();
      share.close();
      limiter.boundLowered();
      departure = incarnation.departure(limiter.figures().inFlight());
    }
    limiter.close();
    joining.runAll();
    departures.leave(departure);
  }

  /** Returns whether the admission of a request follows by what is known. */
  private boolean isDecided() {
    return share.isLeased()
        || membership.onOutage() == OnOutage.LOCAL_ONLY
        || fenced.get() // it could not join: requests do not wait for the next attempt
        || closed;
  }

  /** Sends the heartbeat that is due, or leaves the fleet, and schedules the next one. */
  private void wake() {
    if (share.isFenced() && fenced.compareAndSet(false, true)) {
      listener.fenced();
    }
    NodeHeartbeat beat = null;
    Departure departure = null;
    long now;
    synchronized (this) {
      if (closed || schedule.isDormant()) {
        return;
      }
      now = time.monotonicNanos();
      if (schedule.isDue(now) && isIdle(now) && isGivenUp()) {
        departure = incarnation.departure(0);
        sleep();
      } else if (schedule.isDue(now)) {
        schedule.sent(now);
        boolean isFree = pending == null || !pending.isPending(); // else that one is as fresh
        if (isFree && waiting < MAX_WAITING && !(incarnation.isJoining() && waiting > 0)) {
          waiting++;
          beat = new NodeHeartbeat(membership.key(), share, time, this::report);
          pending = beat;
        }
      }
    }
    if (departure != null) {
      departures.leave(departure);
      listener.left();
      return;
    }
    schedule.next(share, now);
    if (beat != null) {
      send(beat);
    }
  }

  private void released() {
    if (limit.takeShift()) {
      schedule.severalSoon();
    }
  }

  private boolean isIdle(long nowNanos) {
    if (share.takeUsed() || isBusy()) {
      usedNanos = nowNanos;
      return false;
    }
    return waiting == 0 && nowNanos - usedNanos >= membership.idleNanos();
  }

  private boolean isBusy() {
    LimiterFigures now = limiter.figures();
    return now.inFlight() > 0 || now.queued() > 0;
  }

  /** Returns whether the share is not used and will not be; a request may have come meanwhile. */
  private boolean isGivenUp() {
    share.suspend();
    limiter.boundLowered();
    if (isBusy() || share.takeUsed()) {
      usedNanos = time.monotonicNanos();
      share.resume();
      return false;
    }
    return true;
  }

  /** Stops heartbeats until the next request, which joins as a new incarnation. */
  private void sleep() {
    share.leave();
    steering.end();
    begin();
    fenced.set(false); // whether the coordinator answers is not known any more
    figures = new FleetFigures(0, figures.limit(), 0, false, "", 0, false);
    schedule.sleep();
  }

  /** Reads the state of this node: first what it applies, then what is in flight by it. */
  private synchronized @Nullable Heartbeat report() {
    if (closed) {
      return null; // its departure must not be overtaken
    }
    SampleDigest digest = limit.take();
    int inFlight = limiter.figures().inFlight();
    share.report(inFlight);
    return incarnation.heartbeat(limit.limit(), inFlight, share.needed(), permitNanos, digest);
  }

  private void send(NodeHeartbeat beat) {
    var _ =
        beat.sendTo(coordinator)
            .whenComplete((grant, failure) -> {
              if (grant == null) {
                failed(beat, failure == null ? new IllegalStateException("no answer") : failure);
              } else {
                answered(beat.made(), beat.sentNanos(), grant);
              }
            });
  }

  private void failed(NodeHeartbeat beat, Throwable why) {
    boolean isOut;
    synchronized (this) {
      waiting--;
      pending = beat.equals(pending) ? null : pending;
      isOut = !share.isLeased() && membership.onOutage() == OnOutage.FAIL_CLOSED;
    }
    listener.failed(why);
    if (isOut && fenced.compareAndSet(false, true)) {
      listener.fenced();
    }
    joining.runAll();
  }

  private void answered(Heartbeat beat, long sentNanos, ShareGrant answer) {
    ShareGrant grant;
    boolean beatAgain = false;
    boolean isUnfenced = false;
    List<Departure> released = List.of();
    synchronized (this) {
      waiting--;
      if (closed || !incarnation.isNewest(beat)) {
        return; // it answers an earlier question
      }
      grant = answer.atMost(max);
      if (grant.status() != ShareGrant.Status.MEMBER) {
        beatAgain = grant.status() == ShareGrant.Status.EVICTED;
        rejoin(beatAgain);
      } else {
        apply(beat, sentNanos, grant);
        released = departures.take(); // under the lock: this incarnation may end at once
        isUnfenced = !share.isOver() && fenced.compareAndSet(true, false);
        beatAgain =
            incarnation.granted(answer, steering.learn(grant, time.monotonicNanos()))
                || steering.isMeasuring();
      }
    }
    limiter.boundRaised();
    departures.release(released);
    if (isUnfenced) {
      listener.unfenced();
    }
    joining.runAll();
    listener.granted(grant);
    schedule.answered(grant, beatAgain);
  }

  private void apply(Heartbeat beat, long sentNanos, ShareGrant grant) {
    limit.publish(grant.limit(), beat.sampled());
    // By the time when it was sent: the coordinator's lease begins later, so it ends later.
    long until = sentNanos + membership.leaseNanos() - membership.fenceMarginNanos();
    share.grant(grant.share(), grant.equalShare(), until);
    // No request may be admitted by the earlier share once this one is acknowledged.
    limiter.boundLowered();
    figures = FleetFigures.of(grant);
  }

  /** Joins anew: what the earlier incarnation was granted is not acknowledged in the next one. */
  private void rejoin(boolean evicted) {
    share.revoke();
    limiter.boundLowered();
    if (evicted) { // what is reserved for it counts the same requests as the next one
      departures.ended(incarnation);
    }
    begin();
  }

  private void begin() {
    incarnation = new Incarnation(membership, incarnations.getAsLong());
  }
}
