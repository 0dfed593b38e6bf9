package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.InMemoryEscrow;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.store.CallId;
import io.throttlekit.tier.FederatedNodes.Defect;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The in-memory escrow with a record of its calls, and with a defect if a test expects that an
 * exploration finds it. For one thread.
 */
final class HeldUnits implements RegionalEscrow {
  private final TimeSource time;
  private final InMemoryEscrow escrow;
  private final Defect defect;
  private final Set<String> reached;
  private final Set<String> refills = new HashSet<>();
  private @Nullable EscrowRefill lastRefill;
  private int renamed;

  /** Units by window, and the end of each by this clock. */
  private final Map<Long, Long> units = new TreeMap<>();

  private final Map<Long, Long> ends = new TreeMap<>();

  HeldUnits(TimeSource time, Defect defect, Set<String> reached) {
    this.time = time;
    this.defect = defect;
    this.escrow = new InMemoryEscrow(time);
    this.reached = reached;
  }

  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long wanted, @Nullable CallId id) {
    units.forEach((window, left) -> {
      if (left > 0 && ends.getOrDefault(window, 0L) <= time.wallMillis()) {
        reached.add("take: units of a window that is over are there");
      }
    });
    return escrow
        .lease(key, wanted, id)
        .whenComplete((grant, _) -> {
          if (grant.units() > 0) {
            reached.add("take: given");
            units.merge(grant.windowEndMillis(), -grant.units(), Long::sum);
          }
        })
        .thenApply(grant -> defect == Defect.TAKEN_TWICE ? doubled(grant) : grant);
  }

  private static EscrowGrant doubled(EscrowGrant grant) {
    return new EscrowGrant(
        2 * grant.units(),
        grant.windowEndMillis(),
        grant.beginsMillis(),
        grant.endsMillis(),
        grant.nowMillis(),
        grant.left());
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    lastRefill = refill;
    return escrow
        .refill(defect == Defect.REFILLED_AGAIN ? renamed(refill, refill.units()) : refill)
        .whenComplete((taken, _) -> {
          if (taken && refills.add(refill.id())) {
            reached.add("refill: put in");
            units.merge(refill.windowEndMillis(), refill.units(), Long::sum);
            ends.merge(refill.windowEndMillis(), refill.endsMillis(), Math::max);
          } else if (!taken) {
            reached.add("refill: too late");
          }
        });
  }

  /** Returns a refill that the escrow does not know. */
  private EscrowRefill renamed(EscrowRefill refill, long some) {
    return new EscrowRefill(
        refill.key(),
        refill.id() + "-" + renamed++,
        refill.windowEndMillis(),
        refill.beginsMillis(),
        refill.endsMillis(),
        some);
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
    return escrow
        .release(key, windowEndMillis, id)
        .whenComplete((released, _) -> {
          units.remove(windowEndMillis);
          if (released > 0) {
            reached.add("release: given");
            if (defect == Defect.RELEASED_AND_KEPT && lastRefill != null) {
              var _ = escrow.refill(renamed(lastRefill, released));
            }
          }
        });
  }

  @Override
  public CompletionStage<Long> health() {
    return escrow.health();
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return escrow.toString();
  }
}
