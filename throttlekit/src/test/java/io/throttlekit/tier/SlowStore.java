package io.throttlekit.tier;

import io.throttlekit.Claim;
import io.throttlekit.CounterKey;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.Grant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One node's way to a store: each call travels there, and its answer back, when the test says so.
 */
final class SlowStore implements CounterStore {
  private static final String ACQUIRE = "acquire";

  private final CounterStore store;
  private final List<Travelling<?>> calls = new ArrayList<>();

  /** Requests that the store itself has admitted since this was asked last. */
  private int admittedThere;

  /** A call under way: to the store, or with what it answered on the way back. */
  static final class Travelling<T> {
    private final String what;
    private final Supplier<T> decide;
    private final CompletableFuture<T> stage = new CompletableFuture<>();
    private @Nullable T answer;

    private Travelling(String what, Supplier<T> decide) {
      this.what = what;
      this.decide = decide;
    }

    /** Whether it asks for a decision, not for a lease. */
    boolean decides() {
      return what.equals(ACQUIRE);
    }

    boolean hasArrived() {
      return answer != null;
    }

    private void arrive() {
      answer = decide.get();
    }

    private void answer() {
      stage.complete(answer);
    }

    private void lose() {
      stage.completeExceptionally(new StoreException("lost", null));
    }

    @Override
    public String toString() {
      return what + (answer == null ? "" : " -> " + answer);
    }
  }

  SlowStore(CounterStore store) {
    this.store = store;
  }

  List<Travelling<?>> calls() {
    return calls;
  }

  /** Lets a call reach the store, or its answer the node. */
  void move(int index) {
    Travelling<?> call = calls.get(index);
    if (call.hasArrived()) {
      calls.remove(index);
      call.answer();
    } else {
      call.arrive();
    }
  }

  /** Loses a call, or its answer. */
  void lose(int index) {
    calls.remove(index).lose();
  }

  int takeAdmittedThere() {
    int admitted = admittedThere;
    admittedThere = 0;
    return admitted;
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims) {
    return travel(
        ACQUIRE,
        () -> {
          Outcome outcome = store.acquire(claims).toCompletableFuture().join();
          admittedThere += outcome.admitted() ? 1 : 0;
          return outcome;
        });
  }

  @Override
  public CompletionStage<Grant> lease(LeaseRequest request) {
    return travel(
        "lease " + request.units() + " of " + request.key(),
        () -> store.lease(request).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Void> giveBack(LeaseRequest lease, long windowEndMillis, long units) {
    var _ =
        travel(
            "give back " + units + " of " + lease.key() + " until " + windowEndMillis,
            () -> {
              store.giveBack(lease, windowEndMillis, units);
              return true;
            });
    return new CompletableFuture<>();
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}

  private <T> CompletionStage<T> travel(String what, Supplier<T> decide) {
    Travelling<T> call = new Travelling<>(what, decide);
    calls.add(call);
    return call.stage;
  }
}
