package io.throttlekit.store;

import static io.throttlekit.store.Claim.Role.ENFORCED;
import static io.throttlekit.store.Claim.Role.QUOTA;
import static io.throttlekit.store.Claim.Role.SHADOW;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A history of requests on a few counters, generated from a seed, with a clock that enters new
 * windows and sometimes steps back. The same seed generates the same history.
 */
final class RandomRequests {
  private static final String SCOPE = "random";
  private static final int COUNTERS = 3;
  private static final String USER = "user";
  private static final List<Claim.Role> ROLES =
      List.of(ENFORCED, ENFORCED, ENFORCED, QUOTA, SHADOW);

  private final List<RateAlgorithm<?>> algorithms;
  private final SplittableRandom random;
  private final ManualTime clock;
  private final long window;
  private final String name;

  RandomRequests(List<RateAlgorithm<?>> algorithms, long seed, ManualTime clock) {
    this.algorithms = algorithms;
    this.random = new SplittableRandom(seed);
    this.clock = clock;
    this.window = algorithms.getFirst().windowMillis();
    this.name = seed + "/";
  }

  /** A call to a store. */
  @FunctionalInterface
  interface Step {
    /** Makes the call; returns decisions or a grant. */
    Object askOf(CounterStore store);
  }

  private record Acquire(long now, List<Claim> claims) implements Step {
    @Override
    public Object askOf(CounterStore store) {
      return store.acquire(claims).toCompletableFuture().join();
    }
  }

  private record Lease(long now, LeaseRequest request) implements Step {
    @Override
    public Object askOf(CounterStore store) {
      return store.lease(request).toCompletableFuture().join();
    }
  }

  private record ReturnUnits(long now, LeaseRequest lease, long windowEnd, long units)
      implements Step {
    @Override
    public Object askOf(CounterStore store) {
      store.returnUnits(lease, windowEnd, units).toCompletableFuture().join();
      return true;
    }
  }

  /**
   * Returns groups of algorithms; those of a group share requests and, where they are of one kind,
   * counters.
   */
  static List<List<RateAlgorithm<?>>> algorithms() {
    long huge = Cost.MAX;
    return List.of(
        List.of(new FixedWindow(7, 100)),
        List.of(new FixedWindow(0, 100)),
        List.of(new FixedWindow(7, 100), new FixedWindow(3, 100)),
        List.of(new FixedWindow(huge, 100)),
        List.of(new SlidingWindow(7, 100, 10)),
        List.of(new SlidingWindow(1, 7, 1), new SlidingWindow(0, 7, 1)),
        List.of(new SlidingWindow(50, 90, 3), new SlidingWindow(60, 90, 3)),
        List.of(new SlidingWindow(huge / 30, 90, 3)),
        List.of(new SlidingLog(0, 100)),
        List.of(new SlidingLog(40, 60)),
        List.of(new SlidingLog(200_000, 60)),
        List.of(new Gcra(7, 60, 2)),
        List.of(new Gcra(100, 13, 40), new Gcra(7, 13, 40), new Gcra(0, 13, 0)),
        List.of(new Gcra(3, 1000, huge / 1000)),
        List.of(new TokenBucket(7, 60, 2)),
        List.of(
            new TokenBucket(100, 13, 40), new TokenBucket(7, 13, 30), new TokenBucket(0, 13, 0)),
        List.of(new TokenBucket(3, 1000, huge / 1000)),
        List.of(
            new FixedWindow(7, 100),
            new SlidingWindow(7, 100, 10),
            new SlidingLog(40, 60),
            new Gcra(7, 60, 2),
            new TokenBucket(3, 100)));
  }

  Step next() {
    moveClock();
    RateAlgorithm<?> first = algorithms.getFirst();
    int kind = random.nextInt(12);
    if (first instanceof FixedWindow fixed && kind == 0) {
      return new Lease(clock.wallMillis(), lease(fixed));
    }
    if (first instanceof FixedWindow fixed && kind == 1) {
      long end = clock.wallMillis() - Math.floorMod(clock.wallMillis(), window) + window;
      long units = 1 + random.nextLong(9);
      return new ReturnUnits(
          clock.wallMillis(), lease(fixed), random.nextInt(4) == 0 ? end - window : end, units);
    }
    List<Claim> claims = new ArrayList<>();
    for (int c = random.nextInt(2) == 0 ? 1 : 1 + random.nextInt(4); c > 0; c--) {
      List<Charge> charges = new ArrayList<>();
      for (int i = random.nextInt(3) > 0 ? 1 : 2; i > 0; i--) {
        charges.add(charge());
      }
      Claim.Role role = ROLES.get(random.nextInt(ROLES.size()));
      claims.add(new Claim(role, charges));
    }
    return new Acquire(clock.wallMillis(), claims);
  }

  private LeaseRequest lease(FixedWindow fixed) {
    return new LeaseRequest(key(fixed), fixed, 1 + random.nextLong(9), DataLoss.REFILL);
  }

  private Charge charge() {
    RateAlgorithm<?> algorithm = algorithms.get(random.nextInt(algorithms.size()));
    Overrun overrun =
        switch (random.nextInt(8)) {
          case 0 -> Overrun.OVERDRAFT;
          case 1 -> Overrun.COUNT;
          default -> Overrun.REFUSE;
        };
    return new Charge(key(algorithm), algorithm, cost(algorithm.limit()), overrun);
  }

  private CounterKey key(RateAlgorithm<?> algorithm) {
    return CounterKey.of(SCOPE + algorithm.id(), USER, name + random.nextInt(COUNTERS));
  }

  private long cost(long limit) {
    return switch (random.nextInt(20)) {
      case 0 -> Math.min(Cost.MAX, limit + 1);
      case 1, 2 -> random.nextLong(Math.min(Cost.MAX, 2 * limit + 1));
      case 3, 4, 5 -> random.nextLong(2);
      case 6 -> -1 - random.nextLong(limit + 1);
      case 7 -> random.nextInt(8) == 0 ? Cost.MAX : 1;
      default -> random.nextLong(limit / 2 + 2);
    };
  }

  private void moveClock() {
    long now = clock.wallMillis();
    switch (random.nextInt(10)) {
      case 0 -> now += random.nextLong(3 * window);
      case 1, 2, 3, 4 -> now += random.nextLong(window / 5 + 2);
      case 5 -> now -= random.nextInt(3) == 0 ? 1 + random.nextLong(2 * window) : 0;
      default -> {}
    }
    clock.setWall(now);
  }
}
