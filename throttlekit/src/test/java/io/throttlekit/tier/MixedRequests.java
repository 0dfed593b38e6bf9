package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Requests of one to four descriptors with tiers of all kinds, generated from a seed, on few
 * counters, so that they interact. A request does not charge a counter that it refunds.
 */
final class MixedRequests {
  static final long MAX_BATCH = 7;
  static final long WINDOW = 40;
  private static final List<Role> ROLES =
      List.of(Role.ENFORCED, Role.ENFORCED, Role.QUOTA, Role.SHADOW);
  private static final List<Outage> OUTAGES = List.of(Outage.ERROR, Outage.DENY, Outage.ALLOW);
  private static final List<Long> LIMITS = List.of(20L, 9L, 14L);
  private static final Tier STRICT = new Tier.Strict();
  private static final Tier CACHED = new Tier.CachedDeny();

  private final SplittableRandom random;
  private final boolean coupled;
  private long batch = MAX_BATCH;
  private long lowWater;

  MixedRequests(SplittableRandom random, boolean coupled) {
    this.random = random;
    this.coupled = coupled;
  }

  /** Returns the limit of a counter. */
  static long limit(CounterKey key) {
    for (long limit : LIMITS) {
      for (Class<?> tier : List.of(Tier.Strict.class, Tier.CachedDeny.class, Tier.Leased.class)) {
        if (key.equals(Node.key(tier.getSimpleName() + limit))) {
          return limit;
        }
      }
    }
    throw new IllegalArgumentException("no counter of these requests: " + key);
  }

  /** Changes the lease size from now on, as a policy reload does. */
  void reload() {
    batch = 1 + random.nextLong(MAX_BATCH);
    lowWater = random.nextLong(3);
  }

  List<TieredClaim> next() {
    Map<String, Boolean> refunds = new HashMap<>();
    List<TieredClaim> claims = new ArrayList<>();
    int size = 1 + random.nextInt(4);
    while (claims.size() < size) {
      Tier tier =
          switch (random.nextInt(4)) {
            case 0 -> STRICT;
            case 1 -> CACHED;
            default -> new Tier.Leased(new LeaseSize.Fixed(batch), coupled, lowWater, 0);
          };
      List<Charge> charges = new ArrayList<>();
      for (int i = random.nextInt(3) > 0 ? 1 : 2; i > 0; i--) {
        charges.add(charge(tier, refunds));
      }
      Claim claim = new Claim(pick(ROLES), charges, DataLoss.REFILL);
      claims.add(new TieredClaim(claim, tier, pick(OUTAGES)));
    }
    return claims;
  }

  private Charge charge(Tier tier, Map<String, Boolean> refunds) {
    FixedWindow window = new FixedWindow(pick(LIMITS), WINDOW);
    String user = tier.getClass().getSimpleName() + window.limit();
    long cost = cost(window.limit());
    Boolean refunding = refunds.putIfAbsent(user, cost < 0);
    if (refunding != null && refunding != cost < 0) {
      cost = -cost;
    }
    return new Charge(Node.key(user), window, cost, Overrun.REFUSE);
  }

  private long cost(long limit) {
    return switch (random.nextInt(20)) {
      case 0 -> limit + 1;
      case 1 -> 0;
      case 2 -> -1 - random.nextLong(4);
      case 3, 4 -> 1 + random.nextLong(limit);
      default -> 1 + random.nextLong(3);
    };
  }

  private <T> T pick(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }
}
