package io.throttlekit.redis;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RequestWait;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request with counters in several places: hash slots of a Cluster, or several stores.
 *
 * <p>Its charges are counted place by place, in one order, so one of several requests that compete
 * for the same places gets all of them. After an enforced refusal nothing more is counted, and
 * earlier charges are returned. A request that fails on its way returns the charges that are known
 * to be counted; those in another store than the failed one stay, as the caller is notified of
 * them.
 *
 * <p>However late a return arrives, it is taken off the counts at the time of the charge, as far as
 * these still count, and frees nothing that other requests were charged.
 */
final class SlotBySlot {

  private final List<Claim> claims;
  private final TimeSource time;

  /** The charges in the order of the request. */
  private final List<Part> parts = new ArrayList<>();

  private final SortedMap<Place, List<Part>> byPlace = new TreeMap<>();
  private final boolean[] refused;
  private boolean admitted = true;

  /** The store that was called last. */
  private @Nullable RedisCounterStore called;

  /**
   * A hash slot of a store; lower places are charged first.
   *
   * @param order the number of the store among those of the request
   */
  record Place(int order, RedisCounterStore store, int slot) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      return order == other.order
          ? Integer.compare(slot, other.slot)
          : Integer.compare(order, other.order);
    }
  }

  /** A charge, and its result once its place has decided. */
  private static final class Part {
    final int claim;
    final Charge charge;
    final RedisCounterStore store;
    @Nullable Decision decision;
    boolean counted;

    /** When it was decided, by the store's clock. */
    long chargedMillis;

    /** The reset after it, by the same clock. */
    long countsToMillis;

    Part(int claim, Charge charge, RedisCounterStore store) {
      this.claim = claim;
      this.charge = charge;
      this.store = store;
    }
  }

  SlotBySlot(List<Claim> claims, Function<Charge, Place> places, TimeSource time) {
    this.claims = claims;
    this.time = time;
    this.refused = new boolean[claims.size()];
    for (int c = 0; c < claims.size(); c++) {
      for (Charge charge : claims.get(c).charges()) {
        Place place = places.apply(charge);
        Part part = new Part(c, charge, place.store());
        parts.add(part);
        byPlace.computeIfAbsent(place, _ -> new ArrayList<>()).add(part);
      }
    }
  }

  CompletionStage<Outcome> acquire(long deadline) {
    CompletionStage<?> done = CompletableFuture.completedFuture(null);
    for (Map.Entry<Place, List<Part>> each : byPlace.entrySet()) {
      List<Part> there = each.getValue();
      done =
          done.thenCompose(_ -> acquire(each.getKey(), deadline, claimsOf(there)))
              .thenAccept(result -> take(there, result));
    }
    return done.handle((_, failure) -> failure)
        .thenCompose(failure -> failure == null ? settle(deadline) : returnUnitsAndFail(failure));
  }

  private CompletionStage<CounterCall.Part> acquire(Place place, long deadline, List<Claim> there) {
    called = place.store();
    return place.store().acquirePart(place.slot(), deadline, there, !admitted);
  }

  /**
   * Returns the claims of the charges in one place. A quota or shadow claim refuses no request
   * before all its parts are known.
   */
  private List<Claim> claimsOf(List<Part> there) {
    Map<Integer, List<Charge>> byClaim = new TreeMap<>();
    for (Part part : there) {
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

  private void take(List<Part> there, CounterCall.Part result) {
    Outcome outcome = result.outcome();
    boolean[] partRefused = new boolean[claims.size()];
    for (int i = 0; i < there.size(); i++) {
      Part part = there.get(i);
      Decision decision = outcome.decisions().get(i);
      part.decision = decision;
      part.chargedMillis = result.storeNowMillis();
      part.countsToMillis = result.storeNowMillis() + decision.resetAfterMillis();
      partRefused[part.claim] |= !decision.admitted();
    }
    boolean counts = admitted && outcome.admitted();
    for (Part part : there) {
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
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    boolean one = byPlace.firstKey().order() == byPlace.lastKey().order();
    return CompletableFuture.failedFuture(
        one ? cause : StoreException.of(cause).ofPart(partThatFailed()));
  }

  @SuppressWarnings("ReferenceEquality") // a store is itself only
  private StoreException.Part partThatFailed() {
    Set<Integer> failed = new HashSet<>();
    Map<Integer, Decision> decided = new HashMap<>();
    for (int i = 0; i < parts.size(); i++) {
      Part part = parts.get(i);
      if (part.store == called) {
        failed.add(i);
      } else if (part.decision != null) {
        decided.put(i, part.decision);
      }
    }
    return new StoreException.Part(failed, decided);
  }

  /**
   * Returns the charges that should not count; completes with whether all returns succeeded.
   *
   * @param failed whether the store that was called last has failed, so that nothing counts there
   */
  @SuppressWarnings("ReferenceEquality") // a store is itself only
  private CompletableFuture<Boolean> returnUnits(boolean failed) {
    CompletableFuture<?>[] all =
        parts.stream()
            .filter(part ->
                part.counted
                    && ((failed && part.store == called) || !admitted || refused[part.claim]))
            .map(part ->
                part.store
                    .returnUnits(part.charge, part.chargedMillis, part.countsToMillis)
                    .thenAccept(left -> part.decision = left)
                    .toCompletableFuture())
            .toArray(CompletableFuture[]::new);
    return CompletableFuture.allOf(all).handle((_, failure) -> failure == null);
  }
}
