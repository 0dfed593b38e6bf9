package io.throttlekit.simulator.concurrency;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.LimitAlgorithms;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.simulator.concurrency.algorithm.EnvoyGradient;
import io.throttlekit.simulator.concurrency.algorithm.FixedAlgorithm;
import io.throttlekit.simulator.concurrency.algorithm.NetflixAlgorithm;
import io.throttlekit.simulator.concurrency.algorithm.OurAlgorithm;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Pattern;

/** The algorithms that are compared, ours first. All of ours have the same range. */
public final class Contenders {
  /** The limits of our algorithms. */
  public static final LimitRange RANGE = new LimitRange(1, 1000, 20);

  /** Found in the names of our default algorithm and of Netflix's two over windows. */
  public static final Pattern WINDOWED = Pattern.compile("ProbedVegas|windowed");

  private static final int GUESSED = 30; // 1.5 times the servers
  private static final int JITTER = 7; // a stream of random numbers that no other class uses

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
        new Contender(
            "Envoy's gradient", seed -> new EnvoyGradient(new Chance(seed, JITTER)::uniform)),
        Contender.fixed(GUESSED),
        new Contender("no limit", _ -> FixedAlgorithm.NONE));
  }

  /**
   * Returns the automatic algorithms that are compared with the best fixed limit. Netflix's
   * Gradient2 has the range of ours: its default minimum is 20, too much for small backends.
   */
  static List<Contender> reviewed() {
    return List.of(
        probedVegas(),
        ours("Vegas", ConcurrencyRule.LimitAlgorithm.VEGAS),
        ours("AIMD", ConcurrencyRule.LimitAlgorithm.AIMD),
        failsafe(),
        new Contender(
            "Netflix Gradient2, windowed",
            _ ->
                windowed(
                    com.netflix.concurrency.limits.limit.Gradient2Limit.newBuilder()
                        .initialLimit(RANGE.initial())
                        .minLimit(RANGE.min())
                        .maxConcurrency(RANGE.max())
                        .build())),
        new Contender(
            "Netflix Vegas, windowed",
            _ -> windowed(com.netflix.concurrency.limits.limit.VegasLimit.newDefault())));
  }

  /** Returns our default algorithm. */
  public static Contender probedVegas() {
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
