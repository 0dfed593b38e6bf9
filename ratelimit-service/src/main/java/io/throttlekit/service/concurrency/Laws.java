package io.throttlekit.service.concurrency;

import io.throttlekit.concurrency.AimdLimit;
import io.throttlekit.concurrency.AimdLimit.TooLong;
import io.throttlekit.concurrency.CeilingRange;
import io.throttlekit.concurrency.ConcurrencyLimit;
import io.throttlekit.concurrency.FailsafeLimit;
import io.throttlekit.concurrency.Gradient2Limit;
import io.throttlekit.concurrency.ProbedVegasLimit;
import io.throttlekit.concurrency.VegasLimit;
import io.throttlekit.concurrency.WindowSettings;
import io.throttlekit.descriptors.Ceiling;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Makes the laws that policies name, with the settings that each has of its own. */
public final class Laws {
  private static final double AIMD_BACKOFF = 0.9;
  private static final double AIMD_TOLERANCE = 2;
  private static final int AIMD_BASELINE = 100;

  private Laws() {}

  /** A law of this name that begins where the range says. */
  public static ConcurrencyLimit of(Ceiling.Law law, CeilingRange range) {
    return of(law, range, new SplittableRandom());
  }

  /**
   * The same.
   *
   * @param random when it measures, if it does
   */
  public static ConcurrencyLimit of(Ceiling.Law law, CeilingRange range, RandomGenerator random) {
    return switch (law) {
      case PROBED_VEGAS ->
          new ProbedVegasLimit(range, ProbedVegasLimit.Settings.defaults(), random);
      case GRADIENT2 -> new Gradient2Limit(range, Gradient2Limit.Settings.defaults());
      case VEGAS -> new VegasLimit(range, VegasLimit.Settings.defaults(), random);
      case AIMD ->
          new AimdLimit(
              range,
              AIMD_BACKOFF,
              new TooLong.TimesNoLoad(AIMD_TOLERANCE, AIMD_BASELINE, null),
              WindowSettings.defaults());
      case FAILSAFE -> new FailsafeLimit(range, FailsafeLimit.Settings.defaults());
    };
  }
}
