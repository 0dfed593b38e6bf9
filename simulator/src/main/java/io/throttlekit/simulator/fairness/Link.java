package io.throttlekit.simulator.fairness;

import io.throttlekit.CounterKey;
import io.throttlekit.Scheduler;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The network between processes and a store or coordinator: delays and counts calls. */
final class Link {
  private final Scheduler timer;
  private final long messageNanos;
  private long calls;

  /**
   * Creates a network without traffic.
   *
   * @param messageMillis time of a message, half of a round trip; from 1
   */
  Link(Scheduler timer, long messageMillis) {
    this.timer = timer;
    this.messageNanos = TimeUnit.MILLISECONDS.toNanos(messageMillis);
  }

  /** Returns the number of calls. */
  long calls() {
    return calls;
  }

  /** Returns a store at the other end. */
  CounterStore to(CounterStore store) {
    return new FarStore(store);
  }

  /** Returns a coordinator at the other end. */
  GlobalCoordinator to(GlobalCoordinator coordinator) {
    return new FarCoordinator(coordinator);
  }

  private <T> CompletionStage<T> call(Supplier<CompletionStage<T>> target) {
    calls++;
    CompletableFuture<T> answer = new CompletableFuture<>();
    timer.runAfter(
        messageNanos,
        () ->
            target
                .get()
                .whenComplete((value, failure) ->
                    timer.runAfter(
                        messageNanos,
                        () -> {
                          if (failure == null) {
                            answer.complete(value);
                          } else {
                            answer.completeExceptionally(failure);
                          }
                        })));
    return answer;
  }

  private final class FarStore implements CounterStore {
    private final CounterStore store;

    FarStore(CounterStore store) {
      this.store = store;
    }

    @Override
    public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
      return call(() -> store.acquire(claims, waitNanos));
    }

    @Override
    public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
      return call(() -> store.lease(request));
    }

    @Override
    public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
      return call(() -> store.returnUnits(lease, windowEndMillis, units));
    }

    @Override
    public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
      return call(() -> store.reset(key, algorithm));
    }

    @Override
    public CompletionStage<Void> resetTenant(CounterKey key, FairTenant tenant) {
      return call(() -> store.resetTenant(key, tenant));
    }

    @Override
    public void close() {
      store.close();
    }
  }

  private final class FarCoordinator implements GlobalCoordinator {
    private final GlobalCoordinator coordinator;

    FarCoordinator(GlobalCoordinator coordinator) {
      this.coordinator = coordinator;
    }

    @Override
    public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
      return call(() -> coordinator.lease(lease));
    }

    @Override
    public CompletionStage<Boolean> reconcile(BudgetReturn units) {
      return call(() -> coordinator.reconcile(units));
    }

    @Override
    public CompletionStage<Long> health() {
      return call(coordinator::health);
    }

    @Override
    public void close() {
      coordinator.close();
    }
  }
}
