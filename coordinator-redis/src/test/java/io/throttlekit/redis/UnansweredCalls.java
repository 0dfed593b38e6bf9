package io.throttlekit.redis;

import io.throttlekit.CounterKey;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The calls for units of one process, by id, until one of their copies is answered. */
final class UnansweredCalls {
  /** Copies that failed, so that their grants are unknown. */
  final AtomicInteger failed = new AtomicInteger();

  private final ConcurrentMap<Object, State> states = new ConcurrentHashMap<>();

  private enum State {
    PENDING,
    /** A copy failed, and may have taken effect. */
    UNKNOWN,
    ANSWERED
  }

  boolean isEmpty() {
    return states.values().stream().allMatch(state -> state == State.ANSWERED);
  }

  private <T> CompletionStage<T> of(@Nullable Object id, CompletionStage<T> call) {
    if (id == null) {
      return call;
    }
    states.putIfAbsent(id, State.PENDING);
    return call.whenComplete((_, failure) -> {
      if (failure == null) {
        states.put(id, State.ANSWERED);
      } else {
        failed.incrementAndGet();
        boolean notSent = StoreException.of(failure).isNotSent();
        states.compute(id, (_, state) -> afterFailure(state, notSent));
      }
    });
  }

  private static @Nullable State afterFailure(@Nullable State state, boolean notSent) {
    return switch (state) {
      case null -> notSent ? null : State.UNKNOWN; // another copy was not sent
      case PENDING -> notSent ? null : State.UNKNOWN;
      case UNKNOWN, ANSWERED -> state;
    };
  }

  /** The calls to a coordinator. */
  record ToCoordinator(UnansweredCalls calls, GlobalCoordinator there)
      implements GlobalCoordinator {
    @Override
    public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
      return calls.of(lease.id(), there.lease(lease));
    }

    @Override
    public CompletionStage<Boolean> reconcile(BudgetReturn units) {
      return calls.of(units.id(), there.reconcile(units));
    }

    @Override
    public CompletionStage<Long> health() {
      return there.health();
    }

    @Override
    public void close() {
      there.close();
    }
  }

  /** The calls to a region's escrow. */
  record ToEscrow(UnansweredCalls calls, RegionalEscrow there, Runnable beforeRefill)
      implements RegionalEscrow {
    @Override
    public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
      return calls.of(id, there.lease(key, units, id));
    }

    @Override
    public CompletionStage<Boolean> refill(EscrowRefill refill) {
      beforeRefill.run();
      return calls.of(refill.id(), there.refill(refill));
    }

    @Override
    public CompletionStage<Long> release(
        CounterKey key, long windowEndMillis, @Nullable CallId id) {
      return calls.of(id, there.release(key, windowEndMillis, id));
    }

    @Override
    public CompletionStage<Long> health() {
      return there.health();
    }

    @Override
    public void close() {
      there.close();
    }
  }
}
