package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static io.throttlekit.limit.Samples.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Named.named;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The invariants of every limit algorithm, under random samples. */
class LimitAlgorithmsTest {
  private static final int SEEDS = 60;
  private static final int STEPS = 2_000;

  /** The directions of the limit over all histories, to detect histories that prove nothing. */
  private int rises;

  private int falls;

  @ParameterizedTest(name = "{0}, seeds 0 to 59")
  @MethodSource("algorithms")
  void theLimitNeverLeavesItsRange(Function<LimitRange, ConcurrencyLimit> algorithm) {
    for (int seed = 0; seed < SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int min = 1 + random.nextInt(10);
      int max = random.nextInt(4) == 0 ? Integer.MAX_VALUE : min + random.nextInt(300);
      LimitRange range = new LimitRange(min, max, min + random.nextInt(1 + (max - min) / 2));
      ConcurrencyLimit limit = algorithm.apply(range);
      long now = random.nextLong();
      for (int step = 0; step < STEPS; step++) {
        int before = limit.limit();
        now += random.nextLong(ms(100));
        report(limit, now, random);
        assertThat(limit.limit()).as("seed %s step %s", seed, step).isBetween(min, max);
        rises += limit.limit() > before ? 1 : 0;
        falls += limit.limit() < before ? 1 : 0;
      }
    }
    assertThat(rises).isGreaterThan(SEEDS);
    assertThat(falls).isGreaterThan(SEEDS);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("algorithms")
  void theLimitFallsToTheMinimumIfAllRequestsAreDropped(
      Function<LimitRange, ConcurrencyLimit> algorithm) {
    for (double rtt : new double[] {0, 10, 5_000}) {
      ConcurrencyLimit limit = algorithm.apply(new LimitRange(4, 200, 100));
      for (int w = 0; w < 300; w++) {
        int before = limit.limit();
        second(limit, w * 1_010.0, rtt, before, true);
        limit.learn(dropped(w * 1_010.0 + 1_005, rtt, before));
      }
      assertThat(limit.limit()).as("%s ms", rtt).isEqualTo(4);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("algorithms")
  void aFloodOfImmediateRefusalsIsIgnored(Function<LimitRange, ConcurrencyLimit> algorithm) {
    ConcurrencyLimit limit = algorithm.apply(new LimitRange(4, 200, 100));
    ConcurrencyLimit flooded = algorithm.apply(new LimitRange(4, 200, 100));
    for (int i = 0; i < 19; i++) { // fewer than end a window, in which refusals do count
      Sample sample = completed(50.0 * i, 10, 40);
      limit.learn(sample);
      flooded.learn(sample);
      for (int denied = 0; denied < 10; denied++) {
        flooded.learn(completed(50.0 * i, 0, 100));
        flooded.refused(ms(50.0 * i), 1);
      }
      assertThat(flooded.limit()).isEqualTo(limit.limit());
    }
  }

  @ParameterizedTest(name = "{0}, seeds 0 to 19")
  @MethodSource("windowed")
  void theOrderOfAWindowsRequestsDoesNotMatter(Function<LimitRange, ConcurrencyLimit> algorithm) {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      ConcurrencyLimit straight = algorithm.apply(new LimitRange(4, 200, 50));
      ConcurrencyLimit shuffled = algorithm.apply(new LimitRange(4, 200, 50));
      for (int w = 0; w < 30; w++) {
        double began = w * 1_010.0;
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
          samples.add(
              random.nextInt(30) == 0
                  ? dropped(began + 900, 1_000, 40)
                  : completed(began + 900, 18 + random.nextInt(6), 1 + random.nextInt(80)));
        }
        Sample last = completed(began + 1_905, 20, 1);
        samples.forEach(straight::learn);
        straight.learn(last);
        Collections.shuffle(samples, random);
        samples.forEach(shuffled::learn);
        shuffled.learn(last);
        assertThat(shuffled.limit()).as("seed %s", seed).isEqualTo(straight.limit());
      }
    }
  }

  private static void report(ConcurrencyLimit limit, long now, SplittableRandom random) {
    long arrived = random.nextInt(50) == 0 ? random.nextLong() : now;
    switch (random.nextInt(12)) {
      case 0 -> limit.refused(arrived, random.nextBoolean() ? random.nextLong(9) : Long.MAX_VALUE);
      case 1 ->
          limit.acknowledged(
              random.nextInt(1_000), random.nextInt(9) == 0 ? random.nextLong() : now);
      default -> {
        long rtt =
            switch (random.nextInt(12)) {
              case 0 -> 0;
              case 1 -> 1;
              case 2 -> Long.MAX_VALUE;
              case 3 -> random.nextLong(Long.MAX_VALUE);
              default -> ms(15 + random.nextInt(40));
            };
        int inFlight =
            switch (random.nextInt(8)) {
              case 0 -> 1;
              case 1 -> Integer.MAX_VALUE;
              default -> 1 + random.nextInt(Math.clamp(2L * limit.limit(), 1, 1_000_000));
            };
        limit.learn(
            new Sample(
                random.nextInt(9) == 0 ? random.nextLong() : arrived - rtt,
                rtt,
                arrived,
                inFlight,
                random.nextBoolean(),
                random.nextInt(40) == 0));
      }
    }
  }

  static Stream<Named<Function<LimitRange, ConcurrencyLimit>>> algorithms() {
    return Stream.concat(
        windowed(),
        Stream.of(
            algorithm("Aimd", range -> aimd(range, null, null)),
            algorithm("Aimd recalibrated", range -> aimd(range, null, recalibration(range))),
            algorithm("Gradient2", range -> gradient2(range, null, null)),
            algorithm(
                "Gradient2 recalibrated", range -> gradient2(range, null, recalibration(range))),
            algorithm(
                "Gradient2 recalibrated, windowed",
                range -> gradient2(range, WindowSettings.defaults(), recalibration(range))),
            algorithm("Vegas", range -> vegas(range, null))));
  }

  static Stream<Named<Function<LimitRange, ConcurrencyLimit>>> windowed() {
    return Stream.of(
        algorithm("Aimd windowed", range -> aimd(range, WindowSettings.defaults(), null)),
        algorithm("Gradient2 windowed", range -> gradient2(range, WindowSettings.defaults(), null)),
        algorithm("Vegas windowed", range -> vegas(range, WindowSettings.defaults())),
        algorithm("Failsafe", range -> new FailsafeLimit(range, FailsafeLimit.Settings.defaults())),
        algorithm(
            "ProbedVegas",
            range ->
                new ProbedVegasLimit(
                    range, ProbedVegasLimit.Settings.defaults(), new SplittableRandom(1))));
  }

  private static Named<Function<LimitRange, ConcurrencyLimit>> algorithm(
      String name, Function<LimitRange, ConcurrencyLimit> algorithm) {
    return named(name, algorithm);
  }

  private static Recalibration recalibration(LimitRange range) {
    return new Recalibration(ms(5_000), range.min(), 5);
  }

  private static ConcurrencyLimit aimd(
      LimitRange range, @Nullable WindowSettings window, @Nullable Recalibration recalibration) {
    return new AimdLimit(range, new AimdLimit.Settings(.9, 2, 100, window, recalibration));
  }

  private static ConcurrencyLimit gradient2(
      LimitRange range, @Nullable WindowSettings window, @Nullable Recalibration recalibration) {
    return new Gradient2Limit(
        range, new Gradient2Limit.Settings(2, .2, 100, window, recalibration));
  }

  private static ConcurrencyLimit vegas(LimitRange range, @Nullable WindowSettings window) {
    return new VegasLimit(
        range,
        new VegasLimit.Settings(1, 30, limit -> limit - Log10.of(limit), window),
        new SplittableRandom(1));
  }
}
