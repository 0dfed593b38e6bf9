package io.throttlekit.redis;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import io.throttlekit.store.CallId;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.LeaseRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The requests of one round trip, packed as requests.lua reads them. */
final class Requests {
  private static final int FIRST_COUNTER = 2; // key 1 is the epoch
  private static final int MAX_NUMBER = 0xFFFF; // 16 bits, unsigned

  /** At least the bytes of one put: a charge has 36, so a buffer rarely grows. */
  private static final int ROOM_FOR_ONE = 56;

  // Kinds of requests, as in requests.lua.
  private static final byte CHARGE = 0;
  private static final byte LEASE = 1;
  private static final byte RETURN = 2;
  private static final byte RESET = 3;
  private static final byte CLAIMS = 4;
  private static final byte LEASE_ONCE = 5;
  private static final byte RETURN_ONCE = 6;
  private static final byte RESET_TENANT = 7;

  private static final int DENY = 8; // a bit of the flags, beside the overrun
  private static final int ALGORITHM_SHIFT = 4; // above DENY and the overrun
  private static final int SHARED = 5; // the algorithm of a fixed window that tenants share

  private final Map<CounterKey, Integer> numbers = new HashMap<>();

  /** The keys of the counters in the order of their numbers. */
  final List<byte[]> keys = new ArrayList<>();

  private final Slots slots;
  private final int slot;
  private ByteBuffer packed;

  Requests(int expected, Slots slots, int slot) {
    this.slots = slots;
    this.slot = slot;
    packed = ByteBuffer.allocate(expected * ROOM_FOR_ONE).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns all requests so far. */
  byte[] packed() {
    return Arrays.copyOf(packed.array(), packed.position());
  }

  /** Adds a single charge. */
  void charge(Charge charge, DataLoss onDataLoss) {
    room().put(CHARGE);
    put(charge, onDataLoss);
  }

  /**
   * Adds claims that are decided together.
   *
   * @param refused whether their request is refused already
   */
  void claims(List<Claim> claims, boolean refused) {
    room().put(CLAIMS).put((byte) (refused ? 1 : 0)).putShort(number(claims.size()));
    for (int c = 0; c < claims.size(); c++) {
      Claim claim = claims.get(c);
      List<Charge> charges = claim.charges();
      room().put((byte) role(claim.role())).putShort(number(charges.size()));
      for (int i = 0; i < charges.size(); i++) {
        put(charges.get(i), claim.onDataLoss());
      }
    }
  }

  void lease(LeaseRequest lease) {
    CallId id = lease.id();
    room().put(id == null ? LEASE : LEASE_ONCE);
    // Refused beyond the units that are left.
    put(
        new Charge(lease.key(), lease.window(), lease.units(), Overrun.REFUSE, lease.tenant()),
        lease.onDataLoss());
    put(id);
  }

  /** Adds the return of a charge, as far as it still counts. */
  void returnUnits(Charge charge, long chargedMillis, long countsToMillis, @Nullable CallId id) {
    room().put(id == null ? RETURN : RETURN_ONCE);
    put(charge, DataLoss.REFILL);
    room().putDouble((double) chargedMillis).putDouble((double) countsToMillis);
    put(id);
  }

  private void put(@Nullable CallId id) {
    if (id != null) {
      room().putDouble((double) id.sender()).putDouble((double) id.number());
    }
  }

  void reset(CounterKey key) {
    // Tenants may share it, and then be charged in the same round trip.
    room().put(RESET).putShort(counter(key, true));
  }

  void resetTenant(Charge tenants) {
    room().put(RESET_TENANT);
    put(tenants, DataLoss.REFILL);
  }

  private void put(Charge charge, DataLoss onDataLoss) {
    FairTenant tenant = charge.tenant();
    if (tenant != null) {
      put(charge, tenant, onDataLoss);
      return;
    }
    long limit = charge.algorithm().limit();
    switch (charge.algorithm()) { // numbered as in requests.lua
      case FixedWindow _ -> put(0, charge, onDataLoss, limit, 0);
      case SlidingWindow sliding -> put(1, charge, onDataLoss, limit, sliding.buckets());
      case SlidingLog _ -> put(2, charge, onDataLoss, limit, 0);
      case Gcra gcra -> put(3, charge, onDataLoss, gcra.rate(), gcra.burst());
      case TokenBucket bucket -> put(4, charge, onDataLoss, bucket.refill(), bucket.capacity());
    }
  }

  private void put(Charge charge, FairTenant tenant, DataLoss onDataLoss) {
    FairTerms terms = tenant.terms();
    put(SHARED, charge, onDataLoss, terms.limit(), signed(tenant.weight()));
    byte[] name = KeyText.bytes(tenant.key().toString());
    room(ROOM_FOR_ONE + name.length)
        .putDouble((double) terms.partsPerUnit())
        .putDouble(terms.unlistedMillionths())
        .putDouble(terms.maxTenants())
        .putShort(number(name.length))
        .put(name);
  }

  /** Returns a weight as scripts read it: below 0 if it is not listed. */
  static long signed(TenantWeight weight) {
    return weight.listed() ? weight.value() : -weight.value();
  }

  /**
   * Adds a charge.
   *
   * @param extra the parameter that only this algorithm has
   */
  private void put(
      int algorithm, Charge charge, DataLoss onDataLoss, long unitsPerWindow, long extra) {
    int flags = (algorithm << ALGORITHM_SHIFT) | number(charge.overrun());
    room()
        .put((byte) (onDataLoss == DataLoss.DENY ? flags | DENY : flags))
        .putShort(counter(charge.key(), algorithm == SHARED))
        .putDouble((double) charge.cost())
        .putDouble((double) unitsPerWindow)
        .putDouble((double) charge.algorithm().windowMillis())
        .putDouble((double) extra);
  }

  private static int number(Overrun overrun) {
    return switch (overrun) {
      case REFUSE -> 0;
      case OVERDRAFT -> 1;
      case COUNT -> 2;
    };
  }

  private static int role(Claim.Role role) {
    return switch (role) {
      case ENFORCED -> 0;
      case QUOTA -> 1;
      case SHADOW -> 2;
    };
  }

  private short counter(CounterKey key, boolean shared) {
    Integer known = numbers.get(key);
    if (known == null) {
      known = keys.size() + FIRST_COUNTER;
      numbers.put(key, known);
      keys.addAll(shared ? slots.ofPool(key, slot) : List.of(slots.keys.of(key.toString())));
    }
    return number(known);
  }

  private static short number(int value) {
    if (value > MAX_NUMBER) {
      throw new IllegalArgumentException(
          "a request has at most 65,535 charges, claims, and bytes of a tenant's key");
    }
    return (short) value;
  }

  private ByteBuffer room() {
    return room(ROOM_FOR_ONE);
  }

  private ByteBuffer room(int bytes) {
    if (packed.remaining() < bytes) {
      packed =
          ByteBuffer.wrap(Arrays.copyOf(packed.array(), 2 * packed.capacity() + bytes))
              .order(ByteOrder.LITTLE_ENDIAN)
              .position(packed.position());
    }
    return packed;
  }
}
