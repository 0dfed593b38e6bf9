package io.throttlekit.descriptors.policy;

import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.FailsafeLimit;
import io.throttlekit.limit.Gradient2Limit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.ProbedVegasLimit;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.limit.VegasLimit;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Creates the limit algorithms that policies name, each with its own settings. */
public final class LimitAlgorithms {
  private LimitAlgorithms() {}

  /**
   * Returns the limit algorithm of a rule.
   *
   * @param limit where it starts; clamped to the range of the rule
   */
  public static ConcurrencyLimit of(ConcurrencyRule rule, int limit) {
    return of(rule, limit, ProbedVegasLimit.Settings.defaults());
  }

  /**
   * Returns the limit algorithm of a rule, for limiters that apply a limit before they acknowledge
   * it: those of a {@link io.throttlekit.share.DistributedLimiter}.
   *
   * @param limit where it starts; clamped to the range of the rule
   */
  public static ConcurrencyLimit ofFleet(ConcurrencyRule rule, int limit) {
    return of(rule, limit, ProbedVegasLimit.Settings.defaults().ofFleet());
  }

  private static ConcurrencyLimit of(
      ConcurrencyRule rule, int limit, ProbedVegasLimit.Settings probedVegas) {
    LimitRange range = rule.range();
    int initial = Math.clamp(limit, range.min(), range.max());
    return of(
        rule.algorithm(),
        new LimitRange(range.min(), range.max(), initial),
        probedVegas,
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
    return of(algorithm, range, ProbedVegasLimit.Settings.defaults(), null, null, random);
  }

  /** Returns the same for limiters that apply a limit before they acknowledge it. */
  public static ConcurrencyLimit ofFleet(
      ConcurrencyRule.LimitAlgorithm algorithm, LimitRange range, RandomGenerator random) {
    return of(algorithm, range, ProbedVegasLimit.Settings.defaults().ofFleet(), null, null, random);
  }

  private static ConcurrencyLimit of(
      ConcurrencyRule.LimitAlgorithm algorithm,
      LimitRange range,
      ProbedVegasLimit.Settings probedVegas,
      FailsafeLimit.@Nullable Settings failsafe,
      @Nullable Recalibration recalibration,
      RandomGenerator random) {
    return switch (algorithm) {
      case PROBED_VEGAS -> new ProbedVegasLimit(range, probedVegas, random);
      case GRADIENT2 ->
          new Gradient2Limit(range, Gradient2Limit.Settings.defaults().with(recalibration));
      case VEGAS -> new VegasLimit(range, VegasLimit.Settings.defaults(), random);
      case AIMD -> new AimdLimit(range, AimdLimit.Settings.defaults().with(recalibration));
      case FAILSAFE ->
          new FailsafeLimit(range, failsafe == null ? FailsafeLimit.Settings.defaults() : failsafe);
    };
  }
}
