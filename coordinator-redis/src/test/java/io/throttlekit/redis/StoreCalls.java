package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.fail;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Short forms of calls to a store in tests. */
final class StoreCalls {
  static final long HOUR = 3_600_000;

  /** A window that ends in fewer than one test run in a few thousand years. */
  static final FixedWindow FIVE = new FixedWindow(5, 1000L * 365 * 24 * HOUR);

  /** The timeout of a test's wait: a busy machine may need most of it. */
  private static final long TIMEOUT_SECONDS = 240;

  private StoreCalls() {}

  static CounterKey key(RateAlgorithm<?> algorithm, String user) {
    return CounterKey.of("shop|" + algorithm.id() + '|' + algorithm.windowMillis(), "user", user);
  }

  static Claim claim(RateAlgorithm<?> algorithm, String user, long cost, DataLoss onDataLoss) {
    Charge charge = new Charge(key(algorithm, user), algorithm, cost, Overrun.REFUSE);
    return new Claim(Claim.Role.ENFORCED, List.of(charge), onDataLoss);
  }

  static CompletionStage<Outcome> ask(CounterStore store, String user, long cost) {
    return store.acquire(List.of(claim(FIVE, user, cost, DataLoss.REFILL)));
  }

  static LeaseRequest lease(String user, long units) {
    return new LeaseRequest(key(FIVE, user), FIVE, units, DataLoss.REFILL);
  }

  static Outcome acquire(CounterStore store, String user, long cost) {
    return answer(ask(store, user, cost));
  }

  static long left(CounterStore store, String user) {
    return answer(store.peek(key(FIVE, user), FIVE)).decisions().getFirst().remaining();
  }

  static LeaseGrant grant(CounterStore store, String user, long units) {
    return answer(store.lease(lease(user, units)));
  }

  static <T> T answer(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
  }

  /** Returns the failure of a stage; fails the test if there is none. */
  static Throwable failure(CompletionStage<?> stage) {
    CompletableFuture<?> asked =
        stage.toCompletableFuture().orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    CompletionException thrown = catchThrowableOfType(CompletionException.class, asked::join);
    return Objects.requireNonNull(thrown.getCause());
  }

  /** Returns whether the store answers now. */
  static boolean answers(CounterStore store) {
    try {
      left(store, "anybody");
      return true;
    } catch (CompletionException _) {
      return false;
    }
  }

  static void await(String what, BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - begun > TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
        fail("not " + what + " after " + TIMEOUT_SECONDS + " s");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }
}
