package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.AimdLimit.TooLong;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.FailsafeLimit;
import io.throttlekit.limit.Gradient2Limit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.ProbedVegasLimit;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.limit.VegasLimit;
import io.throttlekit.limit.WindowSettings;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Creates the limit algorithms that policies name, each with its own settings. */
public final class LimitAlgorithms {
  // AIMD of concurrency-limits has the same backoff ratio
  private static final double AIMD_BACKOFF = 0.9;
  // a request is late at twice the latency without load
  private static final double AIMD_TOLERANCE = 2;
  // the least of so many latencies counts as the latency without load
  private static final int AIMD_BASELINE = 100;

  private LimitAlgorithms() {}

  /**
   * Returns the limit algorithm of a rule.
   *
   * @param limit where it starts; clamped to the range of the rule
   */
  public static ConcurrencyLimit of(ConcurrencyRule rule, int limit) {
    LimitRange range = rule.range();
    int initial = Math.clamp(limit, range.min(), range.max());
    return of(
        rule.algorithm(),
        new LimitRange(range.min(), range.max(), initial),
        rule.failsafe(),
        rule.recalibration(),
        new SplittableRandom());
  }

  /**
   * Returns a limit algorithm with its own settings, which starts at the initial limit of the
   * range.
   *
   * @param random schedules the measurements of algorithms that probe
   */
  public static ConcurrencyLimit of(
      ConcurrencyRule.LimitAlgorithm algorithm, LimitRange range, RandomGenerator random) {
    return of(algorithm, range, null, null, random);
  }

  private static ConcurrencyLimit of(
      ConcurrencyRule.LimitAlgorithm algorithm,
      LimitRange range,
      FailsafeLimit.@Nullable Settings failsafe,
      @Nullable Recalibration recalibration,
      RandomGenerator random) {
    return switch (algorithm) {
      case PROBED_VEGAS ->
          new ProbedVegasLimit(range, ProbedVegasLimit.Settings.defaults(), random);
      case GRADIENT2 ->
          new Gradient2Limit(range, Gradient2Limit.Settings.defaults().with(recalibration));
      case VEGAS -> new VegasLimit(range, VegasLimit.Settings.defaults(), random);
      case AIMD ->
          new AimdLimit(
              range,
              AIMD_BACKOFF,
              new TooLong.TimesNoLoad(AIMD_TOLERANCE, AIMD_BASELINE, recalibration),
              WindowSettings.defaults());
      case FAILSAFE ->
          new FailsafeLimit(range, failsafe == null ? FailsafeLimit.Settings.defaults() : failsafe);
    };
  }
}
