package io.throttlekit.simulator.concurrency;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import io.throttlekit.concurrency.CeilingRange;
import io.throttlekit.concurrency.ProbedVegasLimit;
import io.throttlekit.descriptors.Ceiling;
import io.throttlekit.service.concurrency.Laws;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** The algorithms that are compared, ours first. All of ours have the same range. */
final class Contenders {
  private static final CeilingRange RANGE = new CeilingRange(1, 1000, 20);
  private static final int GUESSED = 30; // 1.5 times the servers

  private Contenders() {}

  static List<Contender> all() {
    return List.of(
        probedVegas(),
        ours("Gradient2", Ceiling.Law.GRADIENT2),
        ours("Vegas", Ceiling.Law.VEGAS),
        ours("AIMD", Ceiling.Law.AIMD),
        failsafe(),
        netflixGradient2(),
        new Contender(
            "Netflix Gradient2, windowed",
            _ -> windowed(com.netflix.concurrency.limits.limit.Gradient2Limit.newDefault())),
        new Contender(
            "Netflix Vegas",
            _ -> new NetflixLaw(com.netflix.concurrency.limits.limit.VegasLimit.newDefault())),
        new Contender(
            "Netflix Vegas, windowed",
            _ -> windowed(com.netflix.concurrency.limits.limit.VegasLimit.newDefault())),
        new Contender("Netflix AIMD", _ -> new NetflixLaw(AIMDLimit.newBuilder().build())),
        new Contender("Envoy's gradient", EnvoyGradient::new),
        new Contender("fixed at " + GUESSED, _ -> new FixedCeiling(GUESSED)),
        new Contender("no limit", _ -> FixedCeiling.NONE));
  }

  /** Returns our default algorithm. */
  static Contender probedVegas() {
    return new Contender(
        "ProbedVegas",
        seed -> {
          ProbedVegasLimit limit =
              new ProbedVegasLimit(RANGE, ProbedVegasLimit.Settings.defaults(), random(seed));
          return new OurLaw(limit, limit::measuring);
        });
  }

  /** Returns our version of failsafe-go's algorithm, with its defaults. */
  static Contender failsafe() {
    return ours("Failsafe", Ceiling.Law.FAILSAFE);
  }

  /** Returns Netflix's own implementation. */
  static Contender netflixGradient2() {
    return new Contender(
        "Netflix Gradient2",
        _ -> new NetflixLaw(com.netflix.concurrency.limits.limit.Gradient2Limit.newDefault()));
  }

  private static Contender ours(String name, Ceiling.Law law) {
    return new Contender(name, seed -> new OurLaw(Laws.of(law, RANGE, random(seed)), () -> false));
  }

  private static NetflixLaw windowed(Limit limit) {
    return new NetflixLaw(WindowedLimit.newBuilder().build(limit));
  }

  private static RandomGenerator random(long seed) {
    return new SplittableRandom(seed);
  }
}
