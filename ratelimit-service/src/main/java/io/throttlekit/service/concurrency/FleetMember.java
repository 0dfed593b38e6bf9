package io.throttlekit.service.concurrency;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.share.MembershipListener;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Remnant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Notifies the listeners of the events of one limit that replicas share. Thread-safe. */
final class FleetMember implements MembershipListener {
  /**
   * How long two members with one id are normal. The longest case: an idle limit is evicted,
   * created again, and the first one leaves after 10 s; a restarted process takes one lease of 2 s.
   */
  static final long SAME_ID_NANOS = TimeUnit.SECONDS.toNanos(14);

  /** How long after a notification that was not reported the next one comes. */
  static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Fleet fleet;
  private final Supplier<Rule> rule;
  private final LimitMoves moves;
  private final Consumer<List<Remnant>> remnants;
  private final TimeSource time;
  private final Scheduler timer;

  // Guarded by this.
  private boolean fenced;
  private boolean reportedFenced;
  private boolean reportLater;
  private long fenceNanos; // when fenced changed
  private String lastFailure = "";
  private int limit;
  private boolean sameId;
  private long sameIdSinceNanos;

  /**
   * @param rule supplies the rule that requested the limit last
   * @param remnants receives what is reserved for nodes that are no members any more
   * @param timer follows {@code time}
   * @param limit before the first answer
   */
  FleetMember(
      Fleet fleet,
      Supplier<Rule> rule,
      LimitMoves moves,
      Consumer<List<Remnant>> remnants,
      TimeSource time,
      Scheduler timer,
      int limit) {
    this.fleet = fleet;
    this.rule = rule;
    this.moves = moves;
    this.remnants = remnants;
    this.time = time;
    this.timer = timer;
    this.limit = limit;
  }

  @Override
  public void fenced() {
    changed(true);
    report();
  }

  @Override
  public void unfenced() {
    changed(false);
    report();
  }

  @Override
  public void left() {
    synchronized (this) { // whether the store answers is not known any more
      fenced = false;
      reportedFenced = false;
      lastFailure = "";
    }
  }

  private synchronized void changed(boolean now) {
    if (fenced != now) {
      fenced = now;
      fenceNanos = time.monotonicNanos();
    }
  }

  /** Reports whether it is fenced if that differs from the last report; later, if not now. */
  private void report() {
    boolean now;
    long since;
    String reason;
    synchronized (this) {
      if (fenced == reportedFenced) {
        return;
      }
      now = fenced;
      since = fenceNanos;
      reason = lastFailure;
    }
    boolean isReported =
        now
            ? fleet.listener().fenced(rule.get(), reason, since)
            : fleet.listener().unfenced(rule.get(), since);
    synchronized (this) {
      if (isReported) {
        reportedFenced = now;
      }
      if (fenced == reportedFenced || reportLater) {
        return;
      }
      reportLater = true;
    }
    timer.runAfter(REPORT_NANOS, this::reportAgain);
  }

  private void reportAgain() {
    synchronized (this) {
      reportLater = false;
    }
    report();
  }

  @Override
  public void granted(ShareGrant grant) {
    synchronized (this) {
      lastFailure = "";
    }
    if (grant.status() != ShareGrant.Status.MEMBER) {
      return;
    }
    int before;
    boolean isDuplicate;
    synchronized (this) {
      before = limit;
      limit = grant.limit();
      isDuplicate = isDuplicate(grant.sameId());
    }
    moves.update(rule.get(), before, grant.limit());
    remnants.accept(grant.remnants());
    if (isDuplicate) {
      fleet.listener().sameNode(fleet.node());
    }
  }

  @Override
  public void failed(Throwable why) {
    synchronized (this) {
      lastFailure = String.valueOf(why.getMessage());
    }
    fleet.listener().heartbeatFailed(why);
  }

  private boolean isDuplicate(boolean now) {
    long nanos = time.monotonicNanos();
    if (now && !sameId) {
      sameIdSinceNanos = nanos;
    }
    sameId = now;
    return now && nanos - sameIdSinceNanos >= SAME_ID_NANOS;
  }
}
