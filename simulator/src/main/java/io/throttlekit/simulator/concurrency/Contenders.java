package io.throttlekit.simulator.concurrency;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.LimitAlgorithms;
import io.throttlekit.limit.LimitRange;
import java.util.List;
import java.util.SplittableRandom;

/** The algorithms that are compared, ours first. All of ours have the same range. */
final class Contenders {
  private static final LimitRange RANGE = new LimitRange(1, 1000, 20);
  private static final int GUESSED = 30; // 1.5 times the servers

  private Contenders() {}

  static List<Contender> all() {
    return List.of(
        probedVegas(),
        ours("Gradient2", ConcurrencyRule.LimitAlgorithm.GRADIENT2),
        ours("Vegas", ConcurrencyRule.LimitAlgorithm.VEGAS),
        ours("AIMD", ConcurrencyRule.LimitAlgorithm.AIMD),
        failsafe(),
        netflixGradient2(),
        new Contender(
            "Netflix Gradient2, windowed",
            _ -> windowed(com.netflix.concurrency.limits.limit.Gradient2Limit.newDefault())),
        new Contender(
            "Netflix Vegas",
            _ ->
                new NetflixAlgorithm(com.netflix.concurrency.limits.limit.VegasLimit.newDefault())),
        new Contender(
            "Netflix Vegas, windowed",
            _ -> windowed(com.netflix.concurrency.limits.limit.VegasLimit.newDefault())),
        new Contender("Netflix AIMD", _ -> new NetflixAlgorithm(AIMDLimit.newBuilder().build())),
        new Contender("Envoy's gradient", EnvoyGradient::new),
        new Contender("fixed at " + GUESSED, _ -> new FixedAlgorithm(GUESSED)),
        new Contender("no limit", _ -> FixedAlgorithm.NONE));
  }

  /** Returns our default algorithm. */
  static Contender probedVegas() {
    return ours("ProbedVegas", ConcurrencyRule.LimitAlgorithm.PROBED_VEGAS);
  }

  /** Returns our version of failsafe-go's algorithm, with its defaults. */
  static Contender failsafe() {
    return ours("Failsafe", ConcurrencyRule.LimitAlgorithm.FAILSAFE);
  }

  /** Returns Netflix's own implementation. */
  static Contender netflixGradient2() {
    return new Contender(
        "Netflix Gradient2",
        _ ->
            new NetflixAlgorithm(com.netflix.concurrency.limits.limit.Gradient2Limit.newDefault()));
  }

  private static Contender ours(String name, ConcurrencyRule.LimitAlgorithm algorithm) {
    return new Contender(
        name,
        seed -> new OurAlgorithm(LimitAlgorithms.of(algorithm, RANGE, new SplittableRandom(seed))));
  }

  private static NetflixAlgorithm windowed(Limit limit) {
    return new NetflixAlgorithm(WindowedLimit.newBuilder().build(limit));
  }
}
