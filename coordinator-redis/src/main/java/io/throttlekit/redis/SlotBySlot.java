package io.throttlekit.redis;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RequestWait;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request of a Cluster with counters in several hash slots.
 *
 * <p>Its charges are counted slot by slot, in the order of the slot numbers, so one of several
 * requests that compete for the same slots gets all of them. After an enforced refusal nothing more
 * is counted, and earlier charges are returned. A request that fails on its way returns the charges
 * that are known to be counted.
 *
 * <p>However late a return arrives, it is taken off the counts at the time of the charge, as far as
 * these still count, and frees nothing that other requests were charged.
 */
final class SlotBySlot {

  private final List<Claim> claims;
  private final RedisCounterStore store;
  private final TimeSource time;

  /** The charges in the order of the request. */
  private final List<Part> parts = new ArrayList<>();

  private final Map<Integer, List<Part>> bySlot = new TreeMap<>();
  private final boolean[] refused;
  private boolean admitted = true;

  /** A charge, and its result once its slot has decided. */
  private static final class Part {
    final int claim;
    final Charge charge;
    @Nullable Decision decision;
    boolean counted;

    /** When it was decided, by the store's clock. */
    long chargedMillis;

    /** The reset after it, by the same clock. */
    long countsToMillis;

    Part(int claim, Charge charge) {
      this.claim = claim;
      this.charge = charge;
    }
  }

  SlotBySlot(List<Claim> claims, Slots slots, RedisCounterStore store, TimeSource time) {
    this.claims = claims;
    this.store = store;
    this.time = time;
    this.refused = new boolean[claims.size()];
    for (int c = 0; c < claims.size(); c++) {
      for (Charge charge : claims.get(c).charges()) {
        Part part = new Part(c, charge);
        parts.add(part);
        bySlot.computeIfAbsent(slots.of(charge.key()), _ -> new ArrayList<>()).add(part);
      }
    }
  }

  CompletionStage<Outcome> acquire(long deadline) {
    CompletionStage<?> done = CompletableFuture.completedFuture(null);
    for (Map.Entry<Integer, List<Part>> each : bySlot.entrySet()) {
      List<Part> inSlot = each.getValue();
      done =
          done.thenCompose(
                  _ -> store.acquirePart(each.getKey(), deadline, claimsOf(inSlot), !admitted))
              .thenAccept(result -> take(inSlot, result));
    }
    return done.handle((_, failure) -> failure)
        .thenCompose(failure -> failure == null ? settle(deadline) : returnUnitsAndFail(failure));
  }

  /**
   * Returns the claims of the charges in one slot. A quota or shadow claim refuses no request
   * before all its parts are known.
   */
  private List<Claim> claimsOf(List<Part> inSlot) {
    Map<Integer, List<Charge>> byClaim = new TreeMap<>();
    for (Part part : inSlot) {
      byClaim.computeIfAbsent(part.claim, _ -> new ArrayList<>()).add(part.charge);
    }
    List<Claim> result = new ArrayList<>();
    byClaim.forEach((claim, charges) -> {
      Claim whole = claims.get(claim);
      boolean enforced = whole.role() == Claim.Role.ENFORCED;
      Claim.Role role = enforced ? Claim.Role.ENFORCED : Claim.Role.SHADOW;
      result.add(new Claim(role, charges, whole.onDataLoss()));
    });
    return result;
  }

  private void take(List<Part> inSlot, CounterCall.Part result) {
    Outcome outcome = result.outcome();
    boolean[] partRefused = new boolean[claims.size()];
    for (int i = 0; i < inSlot.size(); i++) {
      Part part = inSlot.get(i);
      Decision decision = outcome.decisions().get(i);
      part.decision = decision;
      part.chargedMillis = result.storeNowMillis();
      part.countsToMillis = result.storeNowMillis() + decision.resetAfterMillis();
      partRefused[part.claim] |= !decision.admitted();
    }
    boolean counts = admitted && outcome.admitted();
    for (Part part : inSlot) {
      boolean always = part.charge.overrun() != Overrun.REFUSE || part.charge.cost() <= 0;
      part.counted = counts && !always && !partRefused[part.claim];
      refused[part.claim] |= partRefused[part.claim];
      admitted &= !partRefused[part.claim] || claims.get(part.claim).role() != Claim.Role.ENFORCED;
    }
  }

  /** Returns the outcome, at the latest by the deadline: it does not depend on the returns. */
  private CompletionStage<Outcome> settle(long deadline) {
    int combined = 0;
    for (int c = 0; c < claims.size(); c++) {
      combined = RequestWait.with(combined, claims.get(c).role(), refused[c]);
    }
    admitted &= !RequestWait.refused(combined);
    return returnUnits(false)
        .completeOnTimeout(false, deadline - time.monotonicNanos(), TimeUnit.NANOSECONDS)
        .thenApply(_ ->
            new Outcome(
                admitted,
                parts.stream().map(part -> Objects.requireNonNull(part.decision)).toList()));
  }

  private CompletionStage<Outcome> returnUnitsAndFail(Throwable failure) {
    var _ = returnUnits(true);
    Throwable cause = failure.getCause();
    return CompletableFuture.failedFuture(cause == null ? failure : cause);
  }

  /** Returns the charges that should not count; completes with whether all returns succeeded. */
  private CompletableFuture<Boolean> returnUnits(boolean everything) {
    CompletableFuture<?>[] all =
        parts.stream()
            .filter(part -> part.counted && (everything || !admitted || refused[part.claim]))
            .map(part ->
                store
                    .returnUnits(part.charge, part.chargedMillis, part.countsToMillis)
                    .thenAccept(left -> part.decision = left)
                    .toCompletableFuture())
            .toArray(CompletableFuture[]::new);
    return CompletableFuture.allOf(all).handle((_, failure) -> failure == null);
  }
}
