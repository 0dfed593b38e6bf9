package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.once.InTurn;
import io.throttlekit.once.LateAnswers;
import io.throttlekit.once.OnceCalls;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Returns units to the coordinator, together with the escrow's remaining units of their window. The
 * returns of a counter, or of a tenant of it, run one after another, each repeated until it is
 * answered or its window has ended. Thread-safe and non-blocking.
 */
final class UnitReturns {
  private final GlobalCoordinator coordinator;
  private final @Nullable RegionalEscrow escrow;
  private final String region;
  private final Supplier<String> ids;
  private final FederationListener listener;
  private final OnceCalls<Release, Long> releases;
  private final OnceCalls<CounterKey, Boolean> returns;
  private final InTurn<CounterKey> inTurn = new InTurn<>();

  private record Release(CounterKey counter, long windowEndMillis) {}

  /** What units were leased from, and the tenant that leased them if tenants share it. */
  record Leased(Budget budget, @Nullable FairTenant tenant) {
    CounterKey key() {
      return tenant == null ? budget.key() : tenant.key();
    }

    long windowNanos() {
      return MonotonicSpan.nanos(budget.window().windowMillis());
    }
  }

  /**
   * Creates an object without returns.
   *
   * @param ids unique ids for all returns of the region
   * @param repeats the first of two senders
   */
  UnitReturns(
      GlobalCoordinator coordinator,
      @Nullable RegionalEscrow escrow,
      String region,
      Supplier<String> ids,
      Clocks clocks,
      OnceCalls.Settings repeats,
      FederationListener listener) {
    this.coordinator = coordinator;
    this.escrow = escrow;
    this.region = region;
    this.ids = ids;
    this.listener = listener;
    this.returns = new OnceCalls<>(repeats, clocks, _ -> 0);
    this.releases =
        new OnceCalls<>(
            new OnceCalls.Settings(
                repeats.sender() + 1, repeats.retryNanos(), repeats.waitNanos(), false),
            clocks,
            _ -> 0);
  }

  /**
   * Returns units.
   *
   * @param inEscrow the counter in the escrow; absent if the escrow keeps its units
   * @return completes when the first call was answered or has failed
   */
  CompletionStage<?> returnUnits(
      Leased from, @Nullable CounterKey inEscrow, long windowEndMillis, long units) {
    CompletableFuture<Boolean> first = new CompletableFuture<>();
    inTurn.run(
        from.key(),
        ended ->
            releaseAll(from, inEscrow, windowEndMillis)
                .whenComplete((others, _) -> {
                  // A release without an answer is repeated; its units are returned separately.
                  long total = units + (others == null ? 0 : others);
                  reconcile(from, windowEndMillis, total, first, ended);
                }));
    return first;
  }

  private CompletionStage<Long> releaseAll(
      Leased from, @Nullable CounterKey inEscrow, long windowEndMillis) {
    RegionalEscrow there = escrow;
    if (there == null || inEscrow == null) {
      return CompletableFuture.completedFuture(0L);
    }
    return releases
        .call(
            new Release(inEscrow, windowEndMillis),
            from.windowNanos(),
            id -> there.release(inEscrow, windowEndMillis, id),
            late -> {
              if (late.value() > 0) {
                var _ = returnUnits(from, null, windowEndMillis, late.value());
              }
            })
        .thenApply(Answered::value);
  }

  /**
   * Returns units to the coordinator.
   *
   * @param first completes when the first call was answered or has failed
   * @param ended completes when the call is no longer repeated
   */
  private void reconcile(
      Leased from,
      long windowEndMillis,
      long units,
      CompletableFuture<Boolean> first,
      CompletableFuture<Boolean> ended) {
    BudgetReturn back =
        new BudgetReturn(from.budget(), region, ids.get(), windowEndMillis, units, from.tenant());
    LateAnswers<Boolean> late =
        (answer, _) -> {
          returned(units, answer != null && answer.value());
          ended.complete(true);
        };
    var _ =
        returns
            .call(from.key(), from.windowNanos(), _ -> coordinator.reconcile(back), late)
            .whenComplete((answer, _) -> {
              if (answer != null) {
                late.ended(answer, true);
              }
              first.complete(answer != null && answer.value());
            });
  }

  private void returned(long units, boolean taken) {
    listener.returned(units, taken);
    if (!taken) {
      listener.lost(Loss.RETURN, units);
    }
  }
}
