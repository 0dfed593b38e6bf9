package io.throttlekit.service.concurrency;

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

  private final Fleet fleet;
  private final Supplier<Rule> rule;
  private final LimitMoves moves;
  private final Consumer<List<Remnant>> remnants;
  private final TimeSource time;

  // Guarded by this.
  private int limit;
  private boolean sameId;
  private long sameIdSinceNanos;

  /**
   * @param rule supplies the rule that requested the limit last
   * @param remnants receives what is reserved for nodes that are no members any more
   * @param limit before the first answer
   */
  FleetMember(
      Fleet fleet,
      Supplier<Rule> rule,
      LimitMoves moves,
      Consumer<List<Remnant>> remnants,
      TimeSource time,
      int limit) {
    this.fleet = fleet;
    this.rule = rule;
    this.moves = moves;
    this.remnants = remnants;
    this.time = time;
    this.limit = limit;
  }

  @Override
  public void fenced() {
    fleet.listener().fenced(rule.get());
  }

  @Override
  public void unfenced() {
    fleet.listener().unfenced(rule.get());
  }

  @Override
  public void granted(ShareGrant grant) {
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
