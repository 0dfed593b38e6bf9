package io.throttlekit.concurrency;

import static java.util.Objects.requireNonNullElse;

import io.throttlekit.TimeSource;
import io.throttlekit.tier.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets as many requests be in flight as a {@link ConcurrencyLimit} allows, and tells it how they
 * fared.
 *
 * <pre>{@code
 * AdaptiveLimiter limiter =
 *     AdaptiveLimiter.of(new AimdLimit(new CeilingRange(1, 200, 20), 0.9, 1_000_000_000L)).build();
 *
 * try (Permit permit = limiter.tryAcquire()) {
 *   if (permit == null) {
 *     return tooBusy();
 *   }
 *   Answer answer = backend.ask(question);
 *   permit.record(); // or permit.drop() when the time was up; neither: it says nothing
 *   return answer;
 * }
 * }</pre>
 *
 * <p>With {@link LimiterBuilder#queueing} those who find no room may wait in {@link #acquire},
 * first come, first served, and nobody overtakes them. A ceiling that falls takes no permit back;
 * one that rises lets in who waits. Who is let in was below a ceiling that was in force between its
 * asking and its admission.
 *
 * <p>Thread-safe, and nothing waits here for anybody. While nobody waits, a permit is taken and
 * given back by one atomic number, which holds how many are in flight and how many wait: who joins
 * the line cannot miss the permit that is given back at the same time. The line has a lock, and the
 * law another; neither is held while anybody is told.
 */
public final class AdaptiveLimiter implements AutoCloseable {
  /** In flight is the upper half of the state, waiting the lower. */
  private static final long ONE_IN_FLIGHT = 1L << 32;

  private static final long ONE_QUEUED = 1;

  private final @Nullable Queueing queueing;
  private final @Nullable Prioritizer prioritizer;
  private final GuardedLaw law;
  private final LimiterListener listener;
  private final TimeSource time;
  private final Timer timer;
  private final DoubleSupplier random;
  private final Tellings tellings = new Tellings(this::tellRefused);

  private final AtomicLong state = new AtomicLong();

  /** Its lock guards it, {@code closed}, and the waiting half of the state. */
  private final WaitingLine line = new WaitingLine();

  private boolean closed;

  AdaptiveLimiter(LimiterBuilder builder) {
    this.prioritizer = builder.prioritizer;
    this.queueing =
        prioritizer == null
            ? builder.queueing
            : requireNonNullElse(builder.queueing, Queueing.of(2, 3));
    this.listener = builder.listener;
    this.time = builder.time;
    this.timer = builder.timer;
    this.random = builder.random;
    this.law = new GuardedLaw(builder.law, listener, time.monotonicNanos());
  }

  /** A limiter that obeys and teaches {@code law}, which nobody else may teach from now on. */
  public static LimiterBuilder of(ConcurrencyLimit law) {
    return new LimiterBuilder(law);
  }

  /** A permit, if one is there now, for a request of nobody in particular. */
  public @Nullable Permit tryAcquire() {
    return tryAcquire(PermitRequest.PLAIN);
  }

  /** A permit, if one is there now: the request does not wait, whatever it says. */
  public @Nullable Permit tryAcquire(PermitRequest request) {
    int inFlight = enter(request.level());
    if (inFlight == 0) {
      refuse(requireNonNullElse(priorityTooLow(request.level()), Refusal.CEILING_REACHED));
      return null;
    }
    return new Permit(this, request.user(), time.monotonicNanos(), inFlight);
  }

  /**
   * Asks for a permit, and waits for it where that is allowed: up to a millisecond longer than it
   * may, as timers are.
   *
   * @param applicant is told once, before this returns or later
   * @return ends the waiting, if the request waits
   */
  public Waiting acquire(PermitRequest request, Applicant applicant) {
    int inFlight = enter(request.level());
    if (inFlight > 0) {
      admit(new Permit(this, request.user(), time.monotonicNanos(), inFlight), applicant);
      return Waiting.OVER;
    }
    long wait = longestWait(request);
    Refusal refusal = priorityTooLow(request.level());
    if (refusal == null && wait == 0) {
      refusal = Refusal.CEILING_REACHED;
    }
    if (refusal == null) {
      Waiter waiter = waiter(request, applicant, wait);
      refusal = join(waiter);
      if (refusal == null) {
        serve();
        return waiter;
      }
    }
    refuse(refusal);
    applicant.refused(refusal);
    return Waiting.OVER;
  }

  /** Whether a request of nobody in particular would get a permit, or wait for one, now. */
  public boolean canAcquire() {
    return canAcquire(PermitRequest.PLAIN);
  }

  /**
   * Whether {@code request} would get a permit, or wait for one, now. Takes nothing; where the
   * queue is filling up, it draws by lot as {@link #acquire} does.
   */
  public boolean canAcquire(PermitRequest request) {
    if (!isFull(state.get())) {
      return !isBarred(request.level());
    }
    return longestWait(request) > 0
        && (prioritizer == null || request.level() >= prioritizer.threshold())
        && !isQueueFull();
  }

  /** Learns from a request that somebody else has measured, whose permit is released. */
  public void learn(Sample sample) {
    if (law.learn(sample)) {
      serveIfAnyWait();
    }
  }

  /**
   * Goes on with another law, as new settings or a new start need it. Permits that are out stay
   * good, and what they teach is told to the new law.
   */
  public void obey(ConcurrencyLimit other) {
    if (law.replace(other)) {
      serveIfAnyWait();
    }
  }

  /** What this does now; the numbers may be a moment apart. */
  public LimiterFigures figures() {
    long now = state.get();
    double rate = isFull(now) ? 1 : 0;
    if (queueing != null) {
      rate = queueing.figures(law.ceiling(), queued(now)).rejectionRate();
    }
    return new LimiterFigures(law.ceiling(), inFlight(now), queued(now), rate);
  }

  /** How full the queue is; without one, nothing is allowed in it. */
  public QueueFigures queueFigures() {
    int ceiling = law.ceiling();
    return queueing == null
        ? new QueueFigures(ceiling, 0, 0, 0)
        : queueing.figures(ceiling, queued(state.get()));
  }

  /**
   * Refuses those who wait, lets nobody wait from now on, and leaves the prioritizer. Permits stay
   * good, and new ones are given while there is room.
   */
  @Override
  public void close() {
    List<Waiter> refused;
    synchronized (line) {
      closed = true;
      refused = line.removeAll();
      state.addAndGet(-refused.size());
    }
    if (prioritizer != null) {
      prioritizer.leave(this);
    }
    refused.forEach(waiter -> waiter.refuse(Refusal.CLOSED));
    tellings.tell(refused);
  }

  void endedWithSample(Permit permit, boolean dropped) {
    long now = time.monotonicNanos();
    end(permit, Math.max(0, now - permit.startNanos()), now, dropped);
  }

  void endedMeasured(Permit permit, long nanos) {
    end(permit, nanos, time.monotonicNanos(), false);
  }

  private void end(Permit permit, long nanos, long now, boolean dropped) {
    try {
      // While the permit is still out, so that it counts where the law asks whether all are.
      boolean full = inFlight(state.get()) >= law.ceiling();
      law.learn(permit.startNanos(), nanos, now, permit.inFlight(), full, dropped);
      String user = permit.user();
      if (prioritizer != null && user != null) {
        prioritizer.used(user, nanos);
      }
    } finally {
      endedWithoutSample();
    }
  }

  void endedWithoutSample() {
    if (queued(state.addAndGet(-ONE_IN_FLIGHT)) > 0) {
      serve();
    }
  }

  boolean cancel(Waiter waiter) {
    synchronized (line) {
      boolean waited = line.remove(waiter);
      if (waited) {
        state.addAndGet(-ONE_QUEUED);
      }
      return waited;
    }
  }

  /** Takes a permit if there is one and nobody waits; how many are in flight then, or 0. */
  private int enter(int level) {
    if (isBarred(level)) {
      return 0;
    }
    for (long now = state.get(); !isFull(now); now = state.get()) {
      if (state.compareAndSet(now, now + ONE_IN_FLIGHT)) {
        return inFlight(now) + 1;
      }
    }
    return 0;
  }

  /** Whether not even room helps: limiters that share a prioritizer are overloaded together. */
  private boolean isBarred(int level) {
    return prioritizer != null && prioritizer.isShared() && level < prioritizer.threshold();
  }

  private @Nullable Refusal priorityTooLow(int level) {
    if (prioritizer == null) {
      return null;
    }
    if (!isBarred(level) || isFull(state.get())) {
      prioritizer.wanted(level);
    }
    return level < prioritizer.threshold() ? Refusal.PRIORITY_TOO_LOW : null;
  }

  private long longestWait(PermitRequest request) {
    return queueing == null ? 0 : Math.min(request.longestWaitNanos(), queueing.longestWaitNanos());
  }

  private static void admit(Permit permit, Applicant applicant) {
    try {
      applicant.admitted(permit);
    } catch (Throwable bug) {
      permit.release();
      throw bug;
    }
  }

  private Waiter waiter(PermitRequest request, Applicant applicant, long wait) {
    boolean patient = wait > Queueing.FOR_EVER / 2; // its end would overflow
    long endNanos = time.monotonicNanos() + (patient ? 0 : wait);
    return new Waiter(this, request, applicant, patient, endNanos);
  }

  private @Nullable Refusal join(Waiter waiter) {
    synchronized (line) {
      if (closed) {
        return Refusal.CLOSED;
      }
      if (isQueueFull()) {
        return Refusal.QUEUE_FULL;
      }
      line.add(waiter);
      state.addAndGet(ONE_QUEUED);
    }
    law.keptFromBackend();
    return null;
  }

  /** Whether one more may not wait; by lot while the queue fills up, where no level decides. */
  private boolean isQueueFull() {
    double rate = queueFigures().rejectionRate();
    if (prioritizer != null) {
      return rate >= 1;
    }
    return rate > 0 && (rate >= 1 || rate >= random.getAsDouble());
  }

  /**
   * Refuses those who have waited long enough, and lets in whom there is room for. Whoever makes
   * room or joins the line calls it afterwards: of one who joins and one who makes room at the same
   * time, the later sees what the other did.
   */
  private void serve() {
    List<Waiter> answered = new ArrayList<>(1);
    long now = time.monotonicNanos();
    long timerNanos;
    synchronized (line) {
      for (Waiter due = line.pollDue(now); due != null; due = line.pollDue(now)) {
        state.addAndGet(-ONE_QUEUED);
        due.refuse(Refusal.WAITED_TOO_LONG);
        answered.add(due);
      }
      for (Waiter next = admitFirst(now); next != null; next = admitFirst(now)) {
        answered.add(next);
      }
      timerNanos = line.beginTimer(now);
    }
    tellings.tell(answered);
    if (timerNanos > 0) {
      timer.runAfter(timerNanos, () -> timerRan(now + timerNanos));
    }
  }

  private @Nullable Waiter admitFirst(long nowNanos) {
    for (long now = state.get(); ; now = state.get()) {
      if (queued(now) == 0 || inFlight(now) >= law.ceiling()) {
        return null;
      }
      if (state.compareAndSet(now, now + ONE_IN_FLIGHT - ONE_QUEUED)) {
        Waiter first = line.pollFirst();
        if (first != null) { // always, for as many are in line as the state says
          first.admit(nowNanos, inFlight(now) + 1);
        }
        return first;
      }
    }
  }

  private void timerRan(long dueNanos) {
    synchronized (line) {
      line.timerRan(dueNanos);
    }
    serve();
  }

  private void serveIfAnyWait() {
    if (queued(state.get()) > 0) {
      serve();
    }
  }

  private void refuse(Refusal why) {
    if (why != Refusal.CLOSED && isFull(state.get())) {
      law.keptFromBackend();
    }
    tellRefused(why);
  }

  private void tellRefused(Refusal why) {
    try {
      listener.refused(why);
    } catch (Throwable bug) {
      Tellings.report(bug);
    }
  }

  private boolean isFull(long now) {
    return queued(now) > 0 || inFlight(now) >= law.ceiling();
  }

  private static int inFlight(long state) {
    return (int) (state >>> 32);
  }

  private static int queued(long state) {
    return (int) state;
  }
}
