package io.throttlekit.redis;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.store.Grant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One request to Redis and its answer to come.
 *
 * @param <T> the answer
 */
abstract sealed class Call<T> {
  final CompletableFuture<T> answer = new CompletableFuture<>();

  /** By the monotonic clock. */
  final long deadlineNanos;

  /** Whether it is one of those that may take long. */
  final boolean patient;

  /** The hash slot of its counters; Slots.NONE where there is but one Redis. */
  final int slot;

  Call(int slot, long deadlineNanos, boolean patient) {
    this.slot = slot;
    this.deadlineNanos = deadlineNanos;
    this.patient = patient;
  }

  /** How many charges it has. */
  int weight() {
    return 1;
  }

  abstract void write(Requests requests);

  /** Reads this call's part of a reply. */
  abstract T read(ByteBuffer reply);

  /** Reads this call's part of a reply; what answers with it, unless it is too late for that. */
  final Runnable answerWith(ByteBuffer reply) {
    T value = read(reply);
    return () -> answer.complete(value);
  }

  private static Decision decision(ByteBuffer reply, long limit) {
    boolean admitted = reply.get() != 0;
    long remaining = (long) reply.getDouble();
    long resetAfter = (long) reply.getDouble();
    long retryAfter = (long) reply.getDouble();
    return new Decision(admitted, limit, remaining, resetAfter, retryAfter);
  }

  /** Claims decided as one. */
  static final class Acquire extends Call<Outcome> {
    private final List<Claim> claims;
    private final boolean refused;
    private final boolean part;
    private final int weight;

    /** The store's clock when it decided; known of a part only, once that is answered. */
    private long storeNowMillis;

    /**
     * A call for {@code claims}.
     *
     * @param refused whether the request they belong to is refused already
     * @param part whether they are not all of that request
     * @param patient whether it may take as long as a lease
     */
    Acquire(
        int slot,
        long deadlineNanos,
        List<Claim> claims,
        boolean refused,
        boolean part,
        boolean patient) {
      super(slot, deadlineNanos, patient);
      this.claims = claims;
      this.refused = refused;
      this.part = part;
      this.weight = charges(claims);
    }

    private static int charges(List<Claim> claims) {
      int charges = 0;
      for (int c = 0; c < claims.size(); c++) {
        charges += claims.get(c).charges().size();
      }
      return charges;
    }

    @Override
    int weight() {
      return weight;
    }

    @Override
    void write(Requests requests) {
      Claim only = only();
      if (only != null) {
        requests.charge(only.charges().getFirst(), only.onDataLoss());
      } else {
        requests.claims(claims, refused);
      }
    }

    @Override
    Outcome read(ByteBuffer reply) {
      Claim only = only();
      if (only != null) {
        Decision decision = decision(reply, only.charges().getFirst().algorithm().limit());
        boolean admitted = decision.admitted() || only.role() == Claim.Role.SHADOW;
        return new Outcome(admitted, List.of(decision));
      }
      boolean admitted = reply.get() != 0;
      List<Decision> decisions = new ArrayList<>();
      for (Claim claim : claims) {
        for (Charge charge : claim.charges()) {
          decisions.add(decision(reply, charge.algorithm().limit()));
        }
      }
      storeNowMillis = (long) reply.getDouble();
      return new Outcome(admitted, decisions);
    }

    long storeNowMillis() {
      return storeNowMillis;
    }

    /** The claim, if it is the only one and has one charge. */
    private @Nullable Claim only() {
      Claim first = claims.getFirst();
      return !part && claims.size() == 1 && first.charges().size() == 1 ? first : null;
    }
  }

  /** A lease. */
  static final class Lease extends Call<Grant> {
    private final LeaseRequest request;

    Lease(int slot, long deadlineNanos, LeaseRequest request) {
      super(slot, deadlineNanos, true);
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

  /** Units of a lease that come back. */
  static final class GiveBack extends Call<Boolean> {
    private final LeaseRequest lease;
    private final long windowEndMillis;
    private final long units;

    GiveBack(int slot, long deadlineNanos, LeaseRequest lease, long windowEndMillis, long units) {
      super(slot, deadlineNanos, true);
      this.lease = lease;
      this.windowEndMillis = windowEndMillis;
      this.units = units;
    }

    @Override
    void write(Requests requests) {
      requests.giveBack(lease, windowEndMillis, units);
    }

    @Override
    Boolean read(ByteBuffer reply) {
      return true;
    }
  }

  /** A counter to be unused. */
  static final class Reset extends Call<Boolean> {
    private final CounterKey key;

    Reset(int slot, long deadlineNanos, CounterKey key) {
      super(slot, deadlineNanos, false);
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
