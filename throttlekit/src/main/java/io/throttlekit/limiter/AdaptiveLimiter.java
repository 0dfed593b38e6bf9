package io.throttlekit.limiter;

import static io.throttlekit.limiter.RequestCounts.inFlight;
import static io.throttlekit.limiter.RequestCounts.queued;
import static java.util.Objects.requireNonNullElse;

import io.throttlekit.TimeSource;
import io.throttlekit.Wakeups;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.Sample;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.limiter.tenants.TenantFigures;
import io.throttlekit.limiter.tenants.TenantState;
import io.throttlekit.limiter.tenants.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Admits requests up to the concurrency limit of a {@link ConcurrencyLimit}, and passes on how each
 * request ended.
 *
 * <pre>{@code
 * AdaptiveLimiter limiter =
 *     AdaptiveLimiter.of(new AimdLimit(new LimitRange(1, 200, 20), AimdLimit.Settings.defaults()))
 *         .build();
 *
 * try (Permit permit = limiter.tryAcquire()) {
 *   if (permit == null) {
 *     return tooBusy();
 *   }
 *   Answer answer = backend.call(question);
 *   permit.record(); // or permit.drop() after a timeout; without either, no sample is taken
 *   return answer;
 * }
 * }</pre>
 *
 * <p>With {@link LimiterBuilder#queueing}, requests that find no free permit may wait in {@link
 * #acquire}, in strict FIFO order. A limit that falls revokes no permit; one that rises admits
 * waiting requests. Each admitted request was below a limit that was in effect at some instant
 * between its call and its admission.
 *
 * <p>With {@link LimiterBuilder#tenants}, the limit is divided among tenants, see {@link
 * io.throttlekit.limiter.tenants.PermitShares}. Requests within their tenants' parts are admitted
 * first, in FIFO order, then the others. Each decision takes the lock of the queue.
 *
 * <p>Thread-safe and non-blocking. While no request waits, acquiring and releasing a permit is one
 * atomic update of a number that holds both the requests in flight and those that wait, so a
 * request that joins the queue cannot miss a permit that is released at the same time. The queue
 * has a lock, the limit algorithm another; neither is held while a callback or listener runs.
 */
public final class AdaptiveLimiter implements AutoCloseable {
  private static final long RESOLUTION_NANOS = 1_000_000; // resolution of the timers

  private final @Nullable Queueing queueing;
  private final @Nullable Prioritizer prioritizer;
  private final SynchronizedLimit algorithm;
  private final LimiterListener listener;
  private final TimeSource time;
  private final Wakeups wakeups;
  private final DoubleSupplier random;
  private final CallbackQueue callbacks = new CallbackQueue(this::reportRefused);

  /** Its lock also guards writes of {@code closed}. */
  private final PermitPool pool;

  private volatile boolean closed;

  AdaptiveLimiter(LimiterBuilder builder) {
    this.prioritizer = builder.prioritizer;
    this.queueing =
        prioritizer == null
            ? builder.queueing
            : requireNonNullElse(builder.queueing, Queueing.of(2, 3));
    this.listener = builder.listener;
    this.time = builder.time;
    this.wakeups = new Wakeups(builder.timer, RESOLUTION_NANOS, this::serve);
    this.random = builder.random;
    this.algorithm = new SynchronizedLimit(builder, time.monotonicNanos());
    this.pool = new PermitPool(this, algorithm, builder, this::reportUse, callbacks::deliver);
  }

  /**
   * Returns the builder of a limiter that applies {@code algorithm} and feeds it samples. From then
   * on no other code may call its methods that change it.
   */
  public static LimiterBuilder of(ConcurrencyLimit algorithm) {
    return new LimiterBuilder(algorithm);
  }

  /** Returns a permit for a request without level or user, or null if none is free. */
  public @Nullable Permit tryAcquire() {
    return tryAcquire(PermitRequest.PLAIN);
  }

  /** Returns a permit, or null if none is free. Does not wait, whatever {@code request} allows. */
  public @Nullable Permit tryAcquire(PermitRequest request) {
    Permit permit = enter(request);
    if (permit == null) {
      refuse(requireNonNullElse(priorityTooLow(request), pool.noPermit()));
    }
    return permit;
  }

  /**
   * Acquires a permit, and waits for one if limiter and request allow it. Timers have a resolution
   * of 1 ms, so a wait may last up to 1 ms longer than its limit.
   *
   * @param callback notified exactly once, before this method returns or later
   * @return cancels the wait, if the request waits
   */
  public PendingPermit acquire(PermitRequest request, PermitCallback callback) {
    Permit permit = enter(request);
    if (permit != null) {
      CallbackQueue.admit(permit, callback);
      return PendingPermit.ANSWERED;
    }
    long timeout = waitTimeout(request);
    Refusal refusal = priorityTooLow(request);
    if (refusal == null && timeout == 0) {
      refusal = pool.noPermit();
    }
    if (refusal == null) {
      QueuedRequest waiting =
          new QueuedRequest(this, request, callback, timeout, time.monotonicNanos());
      refusal = join(waiting);
      if (refusal == null) {
        serve(); // a permit may have been released since enter
        return waiting;
      }
    }
    refuse(refusal);
    callback.refused(refusal);
    return PendingPermit.ANSWERED;
  }

  /**
   * Returns whether {@code request} would get a permit, or wait for one, now. Takes no permit.
   * While the queue is between its thresholds the result is random, as in {@link #acquire}.
   */
  public boolean canAcquire(PermitRequest request) {
    if (pool.canTake(request) || (endsMeasurement() && pool.canTake(request))) {
      return !isBarred(request);
    }
    boolean withinPart = pool.isWithinPart(request);
    return waitTimeout(request) > 0
        && (withinPart || prioritizer == null || request.level() >= prioritizer.threshold())
        && !isQueueFull(withinPart);
  }

  /** Adds a sample that was measured elsewhere, of a request whose permit is released. */
  public void learn(Sample sample) {
    if (algorithm.learn(sample)) {
      serve();
    }
  }

  /**
   * Replaces the limit algorithm, for new settings or a fresh start. Permits in flight stay valid;
   * their samples go to the new algorithm.
   */
  public void replaceAlgorithm(ConcurrencyLimit other) {
    if (algorithm.replace(other)) {
      serve();
    }
  }

  /**
   * Applies a lower {@link LimitBound}: requests admitted by an earlier one are in flight when this
   * returns, and no more are admitted by it.
   */
  public void boundLowered() {
    pool.startVersion();
  }

  /** Applies a higher {@link LimitBound}: requests that wait are admitted. */
  public void boundRaised() {
    serve();
  }

  /** Returns the current figures. They are not read atomically together. */
  public LimiterFigures figures() {
    long now = pool.counts();
    QueueFigures queue = queueFigures();
    double rate = queueing != null ? queue.rejectionRate() : pool.isFull() ? 1 : 0;
    return new LimiterFigures((int) queue.limit(), inFlight(now), queued(now), rate);
  }

  /** Returns how full the queue is. Without a queue, all its bounds are 0. */
  public QueueFigures queueFigures() {
    int limit = algorithm.limit();
    return queueing == null
        ? new QueueFigures(limit, 0, 0, 0)
        : queueing.figures(limit, queued(pool.counts()));
  }

  /** Returns whether tenants share the limit. */
  public boolean isDivided() {
    return pool.isDivided();
  }

  /** Changes how tenants share the limit, if they do. */
  public void change(TenantTerms tenants) {
    pool.change(tenants);
    serve();
  }

  /** Returns the figures of all tenants; null if none share the limit. */
  public @Nullable ShareFigures shareFigures() {
    return pool.shareFigures();
  }

  /** Returns the tenants with the most requests in flight, in descending order. */
  public List<TenantState> busiestTenants(int most) {
    return pool.busiest(most);
  }

  /** Returns the figures of a tenant as if it sent a request now; null if none share the limit. */
  public @Nullable TenantFigures figures(PermitTenant tenant) {
    return pool.figures(tenant);
  }

  /**
   * Refuses the waiting requests and all that would wait from here on. Its prioritizer no longer
   * counts it. Permits stay valid, and free permits are still handed out.
   */
  @Override
  public void close() {
    List<QueuedRequest> refused;
    synchronized (pool) {
      closed = true;
      refused = pool.removeAll();
    }
    reportUse(); // it does not count once closed, whatever is in flight
    refused.forEach(waiting -> waiting.refuse(Refusal.CLOSED));
    callbacks.deliver(refused);
  }

  /**
   * Ends a permit with a sample.
   *
   * @param measuredNanos latency, or {@link Permit#UNMEASURED} for the time since it was acquired
   */
  void ended(Permit permit, long measuredNanos, boolean dropped) {
    long now = time.monotonicNanos();
    long nanos = measuredNanos >= 0 ? measuredNanos : Math.max(0, now - permit.startNanos);
    try {
      // Read before the permit is released: the limit is full with this request included.
      boolean full = inFlight(pool.counts()) >= algorithm.limit();
      int inFlight = pool.used(permit);
      // A bug in the algorithm must not leak the permit: it is released in finally.
      algorithm.learn(new Sample(permit.startNanos, nanos, now, inFlight, full, dropped));
      String user = permit.user;
      if (prioritizer != null && user != null) {
        prioritizer.used(user, nanos);
      }
    } finally {
      released(permit);
    }
  }

  /** Ends a permit without a sample. */
  void released(Permit permit) {
    long now = pool.release(permit);
    algorithm.released(inFlight(now));
    if (queued(now) > 0) {
      serve();
    }
  }

  boolean cancel(QueuedRequest waiting) {
    return pool.remove(waiting);
  }

  /** Returns a permit if one is free and no request waits, else null. */
  private @Nullable Permit enter(PermitRequest request) {
    if (isBarred(request)) {
      return null;
    }
    Permit permit = pool.take(request);
    return permit == null && endsMeasurement() ? pool.take(request) : permit;
  }

  /** Ends a measurement that has timed out. Returns whether the limit changed. */
  private boolean endsMeasurement() {
    boolean changed = algorithm.isProbing() && algorithm.tick(time.monotonicNanos());
    if (changed) {
      serve();
    }
    return changed;
  }

  private void reportUse() {
    if (prioritizer != null) {
      prioritizer.update(this);
    }
  }

  /** Returns whether requests are in flight or wait, and the limiter is not closed. */
  boolean isInUse() {
    return !closed && RequestCounts.isUsed(pool.counts());
  }

  /**
   * Returns whether the level is refused although permits are free. That happens only to limiters
   * that share a prioritizer, because they are overloaded together; never within a tenant's part.
   */
  private boolean isBarred(PermitRequest request) {
    return prioritizer != null
        && request.level() < prioritizer.threshold()
        && prioritizer.isSharedBy(this)
        && !pool.isWithinPart(request);
  }

  private @Nullable Refusal priorityTooLow(PermitRequest request) {
    if (prioritizer == null || pool.isWithinPart(request)) {
      return null;
    }
    int level = request.level();
    // A request that is refused while permits are free found its limiter not full.
    if (!isBarred(request) || pool.isFull()) {
      prioritizer.foundFull(level);
    }
    return level < prioritizer.threshold() ? Refusal.PRIORITY_TOO_LOW : null;
  }

  private long waitTimeout(PermitRequest request) {
    return queueing == null ? 0 : Math.min(request.waitTimeoutNanos(), queueing.waitTimeoutNanos());
  }

  private @Nullable Refusal join(QueuedRequest waiting) {
    synchronized (pool) {
      if (closed) {
        return Refusal.CLOSED;
      }
      if (isQueueFull(pool.isWithinPart(waiting.request))) {
        return Refusal.QUEUE_FULL;
      }
      pool.add(waiting);
    }
    pool.waits();
    return null;
  }

  /**
   * Returns whether one more request may not wait. Without a prioritizer that is random while the
   * queue fills up; with one, levels decide and only the hard bound counts.
   *
   * @param withinPart whether the request is within its tenant's part: the queue may be longer by
   *     those, as the parts add up to the limit
   */
  private boolean isQueueFull(boolean withinPart) {
    if (queued(pool.counts()) == RequestCounts.MAX) {
      return true;
    }
    QueueFigures figures = queueFigures();
    if (withinPart) {
      return figures.queued() >= figures.max() + figures.limit();
    }
    double rate = figures.rejectionRate();
    if (prioritizer != null) {
      return rate >= 1;
    }
    return rate > 0 && (rate >= 1 || rate >= random.getAsDouble());
  }

  /**
   * Refuses the requests whose wait has timed out, and admits as many others as there are permits.
   * Every thread that frees a permit or adds to the queue calls this afterwards; of two that do so
   * at the same time, the later one sees the change of the other.
   */
  private void serve() {
    List<QueuedRequest> answered = new ArrayList<>(1);
    long now = time.monotonicNanos();
    algorithm.tick(now); // requests wait for the end of a measurement, too
    long nanos = pool.serve(now, answered);
    if (nanos != Long.MAX_VALUE) {
      wakeups.by(now + nanos, now);
    }
    callbacks.deliver(answered);
  }

  private void refuse(Refusal why) {
    if (why != Refusal.CLOSED) {
      pool.refused();
    }
    reportRefused(why);
  }

  private void reportRefused(Refusal why) {
    try {
      listener.refused(why);
    } catch (Throwable bug) {
      CallbackQueue.report(bug);
    }
  }
}
