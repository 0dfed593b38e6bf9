package io.throttlekit.store;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.RateAlgorithm;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store that only keeps numbers, and decides with {@link HeldCounters}. */
final class HeldCounterStore implements CounterStore {
  private final Map<CounterKey, long[]> rows = new HashMap<>();
  private final TimeSource time;
  private long lossMillis;

  HeldCounterStore(TimeSource time) {
    this.time = time;
  }

  void lose() {
    rows.clear();
    lossMillis = time.wallMillis();
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    HeldCounters held = new HeldCounters(time.wallMillis(), lossMillis);
    Map<CounterKey, RateAlgorithm<?>> used = new HashMap<>();
    for (Claim claim : claims) {
      for (Charge charge : claim.charges()) {
        used.put(charge.key(), charge.algorithm());
      }
    }
    used.forEach((key, algorithm) -> held.hold(key, algorithm, read(key, algorithm)));
    Outcome outcome = held.acquire(claims);
    used.forEach((key, algorithm) -> write(key, algorithm, held.state(key)));
    return CompletableFuture.completedFuture(outcome);
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    HeldCounters held = hold(request);
    LeaseGrant grant = held.lease(request);
    write(request.key(), request.window(), held.state(request.key()));
    return CompletableFuture.completedFuture(grant);
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    HeldCounters held = hold(lease);
    held.returnUnits(lease, windowEndMillis, units);
    write(lease.key(), lease.window(), held.state(lease.key()));
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    rows.remove(key);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void close() {}

  private HeldCounters hold(LeaseRequest request) {
    HeldCounters held = new HeldCounters(time.wallMillis(), lossMillis);
    held.hold(request.key(), request.window(), read(request.key(), request.window()));
    return held;
  }

  private @Nullable Object read(CounterKey key, RateAlgorithm<?> algorithm) {
    long[] numbers = rows.get(key);
    return numbers == null ? null : algorithm.ofNumbers(numbers);
  }

  private void write(CounterKey key, RateAlgorithm<?> algorithm, @Nullable Object state) {
    if (state == null) {
      rows.remove(key);
    } else {
      rows.put(key, numbers(algorithm, state));
    }
  }

  @SuppressWarnings("unchecked") // the state came from this algorithm
  private static <S> long[] numbers(RateAlgorithm<S> algorithm, Object state) {
    return algorithm.numbers((S) state);
  }
}
