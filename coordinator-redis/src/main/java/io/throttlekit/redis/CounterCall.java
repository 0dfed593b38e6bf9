package io.throttlekit.redis;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.store.CallId;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Grant;
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
abstract sealed class CounterCall<T> extends Call<T> {
  CounterCall(int slot, long deadlineNanos) {
    super(slot, deadlineNanos);
  }

  /**
   * Creates a call with the lease deadline.
   *
   * @param id makes a repeated call take effect once, however late; absent if it is never repeated
   */
  CounterCall(int slot, long leaseDeadlineNanos, @Nullable CallId id) {
    super(slot, leaseDeadlineNanos, id != null);
  }

  /** Returns the number of its charges. */
  int weight() {
    return 1;
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

  private static Decision decision(ByteBuffer reply, long limit) {
    boolean admitted = reply.get() != 0;
    long remaining = (long) reply.getDouble();
    long resetAfter = (long) reply.getDouble();
    long retryAfter = (long) reply.getDouble();
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
        decisions.add(decision(reply, charge.algorithm().limit()));
      }
    }
    return new Outcome(admitted, decisions);
  }

  /** Claims that are decided together. */
  static final class Acquire extends CounterCall<Outcome> {
    private final List<Claim> claims;
    private final int weight;

    Acquire(int slot, long deadlineNanos, List<Claim> claims) {
      super(slot, deadlineNanos);
      this.claims = claims;
      this.weight = charges(claims);
    }

    @Override
    int weight() {
      return weight;
    }

    @Override
    void write(Requests requests) {
      Claim first = claims.getFirst();
      if (weight == 1 && claims.size() == 1) {
        requests.charge(first.charges().getFirst(), first.onDataLoss());
      } else {
        requests.claims(claims, false);
      }
    }

    @Override
    Outcome read(ByteBuffer reply) {
      Claim first = claims.getFirst();
      if (weight == 1 && claims.size() == 1) {
        Decision decision = decision(reply, first.charges().getFirst().algorithm().limit());
        boolean admitted = decision.admitted() || first.role() == Claim.Role.SHADOW;
        return new Outcome(admitted, List.of(decision));
      }
      Outcome outcome = outcome(reply, claims);
      reply.getDouble(); // the store's clock, which a request in one slot does not need
      return outcome;
    }
  }

  /** The part of a request's claims that concerns one slot. */
  static final class Part extends CounterCall<Part.Result> {
    private final List<Claim> claims;
    private final boolean refused;

    /**
     * The decisions on a part.
     *
     * @param storeNowMillis the store's clock at the decision
     */
    record Result(Outcome outcome, long storeNowMillis) {}

    /**
     * Creates a call for {@code claims}.
     *
     * @param refused whether the request is refused already
     */
    Part(int slot, long deadlineNanos, List<Claim> claims, boolean refused) {
      super(slot, deadlineNanos);
      this.claims = claims;
      this.refused = refused;
    }

    @Override
    int weight() {
      return charges(claims);
    }

    @Override
    void write(Requests requests) {
      requests.claims(claims, refused);
    }

    @Override
    Result read(ByteBuffer reply) {
      return new Result(outcome(reply, claims), (long) reply.getDouble());
    }
  }

  /** A lease of units. */
  static final class Lease extends CounterCall<Grant> {
    private final LeaseRequest request;

    Lease(int slot, long deadlineNanos, LeaseRequest request) {
      super(slot, deadlineNanos, request.id());
      this.request = request;
    }

    @Override
    void write(Requests requests) {
      requests.lease(request);
    }

    @Override
    Grant read(ByteBuffer reply) {
      long units = (long) reply.getDouble();
      long windowEnd = (long) reply.getDouble();
      long now = (long) reply.getDouble();
      return new Grant(units, windowEnd, now, (long) reply.getDouble());
    }
  }

  /** A return of a charge, or of unspent units; answered with the counter's state. */
  static final class Return extends CounterCall<Decision> {
    private final Charge charge;
    private final long chargedMillis;
    private final long countsToMillis;
    private final @Nullable CallId id;

    /**
     * Creates a call that undoes {@code charge}, as far as it still counts.
     *
     * @param chargedMillis when it was charged, by the store's clock
     * @param countsToMillis the reset after it, by the same clock
     * @param id makes a repeated call take effect once; absent if it is never repeated
     */
    Return(
        int slot,
        long deadlineNanos,
        Charge charge,
        long chargedMillis,
        long countsToMillis,
        @Nullable CallId id) {
      super(slot, deadlineNanos, id);
      this.charge = charge;
      this.chargedMillis = chargedMillis;
      this.countsToMillis = countsToMillis;
      this.id = id;
    }

    @Override
    void write(Requests requests) {
      requests.returnUnits(charge, chargedMillis, countsToMillis, id);
    }

    @Override
    Decision read(ByteBuffer reply) {
      return decision(reply, charge.algorithm().limit());
    }
  }

  /** A reset of a counter to unused. */
  static final class Reset extends CounterCall<Boolean> {
    private final CounterKey key;

    Reset(int slot, long deadlineNanos, CounterKey key) {
      super(slot, deadlineNanos);
      this.key = key;
    }

    @Override
    void write(Requests requests) {
      requests.reset(key);
    }

    @Override
    Boolean read(ByteBuffer reply) {
      return true;
    }
  }
}
