package io.throttlekit.redis;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.store.CallId;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request for counters.
 *
 * @param <T> the answer
 */
abstract class CounterCall<T> extends Call<T> {
  /** The number of its charges. */
  final int weight;

  /**
   * The decisions on the part of a request that concerns one slot.
   *
   * @param storeNowMillis the store's clock at the decision
   */
  record Part(Outcome outcome, long storeNowMillis) {}

  private CounterCall(int slot, long deadlineNanos, int weight) {
    super(slot, deadlineNanos, false, false);
    this.weight = weight;
  }

  /**
   * Creates a call with the lease deadline.
   *
   * @param id makes a repeated call take effect once, however late; absent if it is never repeated
   */
  private CounterCall(int slot, long leaseDeadlineNanos, @Nullable CallId id) {
    super(slot, leaseDeadlineNanos, true, id != null);
    this.weight = 1;
  }

  abstract void write(Requests requests);

  /** Reads this call's part of a reply. */
  abstract T read(ByteBuffer reply);

  /**
   * Reads this call's part of a reply; returns what completes the call, without effect if it is
   * done.
   */
  final Runnable answerWith(ByteBuffer reply) {
    T value = read(reply);
    return () -> complete(value);
  }

  /** Returns a request whose claims are decided together. */
  static CounterCall<Outcome> acquire(int slot, long deadlineNanos, List<Claim> claims) {
    int charges = charges(claims);
    if (charges == 1 && claims.size() == 1) {
      return acquire(slot, deadlineNanos, claims.getFirst());
    }
    return new CounterCall<>(slot, deadlineNanos, charges) {
      @Override
      void write(Requests requests) {
        requests.claims(claims, false);
      }

      @Override
      Outcome read(ByteBuffer reply) {
        Outcome outcome = outcome(reply, claims);
        reply.getDouble(); // the store's clock, which a request in one slot does not need
        return outcome;
      }
    };
  }

  /** Returns a request with a single charge, which is packed without its claim. */
  private static CounterCall<Outcome> acquire(int slot, long deadlineNanos, Claim claim) {
    Charge charge = claim.charges().getFirst();
    return new CounterCall<>(slot, deadlineNanos, 1) {
      @Override
      void write(Requests requests) {
        requests.charge(charge, claim.onDataLoss());
      }

      @Override
      Outcome read(ByteBuffer reply) {
        Decision decision = decision(reply, charge);
        boolean admitted = decision.admitted() || claim.role() == Claim.Role.SHADOW;
        return new Outcome(admitted, List.of(decision));
      }
    };
  }

  /**
   * Returns the part of a request's claims that concerns one slot.
   *
   * @param refused whether the request is refused already
   */
  static CounterCall<Part> part(int slot, long deadlineNanos, List<Claim> claims, boolean refused) {
    return new CounterCall<>(slot, deadlineNanos, charges(claims)) {
      @Override
      void write(Requests requests) {
        requests.claims(claims, refused);
      }

      @Override
      Part read(ByteBuffer reply) {
        return new Part(outcome(reply, claims), (long) reply.getDouble());
      }
    };
  }

  /** Returns a lease of units; with a grant below 0 units if the call was overtaken. */
  static CounterCall<LeaseGrant> lease(int slot, long deadlineNanos, LeaseRequest request) {
    return new CounterCall<>(slot, deadlineNanos, request.id()) {
      @Override
      void write(Requests requests) {
        requests.lease(request);
      }

      @Override
      LeaseGrant read(ByteBuffer reply) {
        long units = (long) reply.getDouble();
        long windowEnd = (long) reply.getDouble();
        long now = (long) reply.getDouble();
        LeaseGrant grant = new LeaseGrant(units, windowEnd, now, (long) reply.getDouble());
        return request.tenant() == null ? grant : grant.withLimit((long) reply.getDouble());
      }
    };
  }

  /**
   * Returns a call that undoes {@code charge}, as far as it still counts; it is answered with the
   * counter's state.
   *
   * @param chargedMillis when it was charged, by the store's clock
   * @param countsToMillis the reset after it, by the same clock
   * @param id makes a repeated call take effect once; absent if it is never repeated
   */
  static CounterCall<Decision> returnUnits(
      int slot,
      long deadlineNanos,
      Charge charge,
      long chargedMillis,
      long countsToMillis,
      @Nullable CallId id) {
    return new CounterCall<>(slot, deadlineNanos, id) {
      @Override
      void write(Requests requests) {
        requests.returnUnits(charge, chargedMillis, countsToMillis, id);
      }

      @Override
      Decision read(ByteBuffer reply) {
        return decision(reply, charge);
      }
    };
  }

  /** Returns a reset of one tenant, the one of a charge. */
  static CounterCall<Boolean> resetTenant(int slot, long deadlineNanos, Charge tenants) {
    return new CounterCall<>(slot, deadlineNanos, 1) {
      @Override
      void write(Requests requests) {
        requests.resetTenant(tenants);
      }

      @Override
      Boolean read(ByteBuffer reply) {
        return true;
      }
    };
  }

  /** Returns a reset of a counter to unused. */
  static CounterCall<Boolean> reset(int slot, long deadlineNanos, CounterKey key) {
    return new CounterCall<>(slot, deadlineNanos, 1) {
      @Override
      void write(Requests requests) {
        requests.reset(key);
      }

      @Override
      Boolean read(ByteBuffer reply) {
        return true;
      }
    };
  }

  private static Decision decision(ByteBuffer reply, Charge charge) {
    boolean admitted = reply.get() != 0;
    long remaining = (long) reply.getDouble();
    long resetAfter = (long) reply.getDouble();
    long retryAfter = (long) reply.getDouble();
    long limit = charge.tenant() == null ? charge.algorithm().limit() : (long) reply.getDouble();
    return new Decision(admitted, limit, remaining, resetAfter, retryAfter);
  }

  private static int charges(List<Claim> claims) {
    int charges = 0;
    for (int c = 0; c < claims.size(); c++) {
      charges += claims.get(c).charges().size();
    }
    return charges;
  }

  private static Outcome outcome(ByteBuffer reply, List<Claim> claims) {
    boolean admitted = reply.get() != 0;
    List<Decision> decisions = new ArrayList<>();
    for (Claim claim : claims) {
      for (Charge charge : claim.charges()) {
        decisions.add(decision(reply, charge));
      }
    }
    return new Outcome(admitted, decisions);
  }
}
