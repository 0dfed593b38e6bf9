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
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

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

  /** A charge and its position in the request. */
  private record Place(int claim, int index, Charge charge) {}

  private final List<Claim> claims;
  private final RedisCounterStore store;
  private final TimeSource time;
  private final List<Integer> order;
  private final Map<Integer, List<Place>> bySlot = new TreeMap<>();
  private final Decision[] decisions;
  private final boolean[] counted;

  /** When each charge was decided, by the store's clock. */
  private final long[] charged;

  /** The reset after each charge, by the same clock. */
  private final long[] countsTo;

  private final boolean[] refused;
  private boolean admitted = true;

  SlotBySlot(List<Claim> claims, Slots slots, RedisCounterStore store, TimeSource time) {
    this.claims = claims;
    this.store = store;
    this.time = time;
    this.refused = new boolean[claims.size()];
    int index = 0;
    for (int c = 0; c < claims.size(); c++) {
      for (Charge charge : claims.get(c).charges()) {
        bySlot
            .computeIfAbsent(slots.of(charge.key()), _ -> new ArrayList<>())
            .add(new Place(c, index++, charge));
      }
    }
    this.order = List.copyOf(bySlot.keySet());
    this.decisions = new Decision[index];
    this.counted = new boolean[index];
    this.charged = new long[index];
    this.countsTo = new long[index];
  }

  CompletionStage<Outcome> acquire(long deadline) {
    CompletionStage<?> done = CompletableFuture.completedFuture(null);
    for (int slot : order) {
      done = done.thenCompose(_ -> acquire(slot, deadline));
    }
    return done.handle((_, failure) -> failure)
        .thenCompose(failure -> failure == null ? settle(deadline) : returnUnitsAndFail(failure));
  }

  private CompletionStage<?> acquire(int slot, long deadline) {
    List<Place> places = places(slot);
    return store
        .acquirePart(slot, deadline, parts(places), !admitted)
        .thenAccept(result -> take(places, result));
  }

  /**
   * Returns the claims' parts in one slot. A quota or shadow claim refuses no request before all
   * its parts are known.
   */
  private List<Claim> parts(List<Place> places) {
    List<Claim> parts = new ArrayList<>();
    for (int from = 0, to; from < places.size(); from = to) {
      Claim whole = claims.get(places.get(from).claim());
      List<Charge> charges = new ArrayList<>();
      for (to = from; to < places.size() && places.get(to).claim() == places.get(from).claim(); ) {
        charges.add(places.get(to++).charge());
      }
      boolean enforced = whole.role() == Claim.Role.ENFORCED;
      parts.add(
          new Claim(
              enforced ? Claim.Role.ENFORCED : Claim.Role.SHADOW, charges, whole.onDataLoss()));
    }
    return parts;
  }

  private void take(List<Place> places, CounterCall.Part.Result result) {
    Outcome outcome = result.outcome();
    boolean[] partRefused = new boolean[claims.size()];
    for (int i = 0; i < places.size(); i++) {
      Place place = places.get(i);
      Decision decision = outcome.decisions().get(i);
      decisions[place.index()] = decision;
      charged[place.index()] = result.storeNowMillis();
      countsTo[place.index()] = result.storeNowMillis() + decision.resetAfterMillis();
      partRefused[place.claim()] |= !outcome.decisions().get(i).admitted();
    }
    boolean counts = admitted && outcome.admitted();
    for (Place place : places) {
      Charge charge = place.charge();
      boolean always = charge.overrun() != Overrun.REFUSE || charge.cost() <= 0;
      counted[place.index()] = counts && !always && !partRefused[place.claim()];
      refused[place.claim()] |= partRefused[place.claim()];
      admitted &= !partRefused[place.claim()] || role(place) != Claim.Role.ENFORCED;
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
        .thenApply(_ -> new Outcome(admitted, List.of(decisions)));
  }

  private CompletionStage<Outcome> returnUnitsAndFail(Throwable failure) {
    var _ = returnUnits(true);
    Throwable cause = failure.getCause();
    return CompletableFuture.failedFuture(cause == null ? failure : cause);
  }

  /** Returns the charges that should not count; completes with whether all returns succeeded. */
  private CompletableFuture<Boolean> returnUnits(boolean everything) {
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int slot : order) {
      for (Place place : places(slot)) {
        if (counted[place.index()] && (everything || !admitted || refused[place.claim()])) {
          all.add(returnUnits(place));
        }
      }
    }
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
        .handle((_, failure) -> failure == null);
  }

  private CompletableFuture<?> returnUnits(Place place) {
    int index = place.index();
    return store
        .returnUnits(place.charge(), charged[index], countsTo[index])
        .thenAccept(left -> decisions[index] = left)
        .toCompletableFuture();
  }

  private List<Place> places(int slot) {
    return bySlot.getOrDefault(slot, List.of());
  }

  private Claim.Role role(Place place) {
    return claims.get(place.claim()).role();
  }
}
