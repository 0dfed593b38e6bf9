package io.throttlekit.store;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import java.util.List;

/** Factories for tests of stores. */
final class Charges {
  private Charges() {}

  /**
   * Returns all five algorithms, admitting {@code limit} units at once and none more for a minute.
   */
  static List<RateAlgorithm<?>> hourly(long limit) {
    long hour = 3_600_000;
    return List.of(
        new FixedWindow(limit, hour),
        new SlidingWindow(limit, hour),
        new SlidingLog(limit, hour),
        new Gcra(1, hour, limit),
        new TokenBucket(1, hour, limit));
  }

  static CounterKey key(RateAlgorithm<?> algorithm, String user) {
    return CounterKey.of("shop|" + algorithm.id() + '|' + algorithm.windowMillis(), "user", user);
  }

  static Charge charge(RateAlgorithm<?> algorithm, String user, long cost) {
    return charge(algorithm, user, cost, Overrun.REFUSE);
  }

  static Charge charge(RateAlgorithm<?> algorithm, String user, long cost, Overrun overrun) {
    return new Charge(key(algorithm, user), algorithm, cost, overrun);
  }

  static Claim enforced(Charge... charges) {
    return new Claim(Claim.Role.ENFORCED, List.of(charges));
  }

  static Claim quota(Charge... charges) {
    return new Claim(Claim.Role.QUOTA, List.of(charges));
  }

  static Claim shadow(Charge... charges) {
    return new Claim(Claim.Role.SHADOW, List.of(charges));
  }
}
