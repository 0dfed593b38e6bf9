package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import com.netflix.concurrency.limits.limit.Gradient2Limit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import io.throttlekit.limit.FailsafeLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.Sample;
import io.throttlekit.simulator.concurrency.algorithm.NetflixAlgorithm;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The behaviour of a baseline that follows latency, under lasting overload: it takes the queue for
 * the backend's own latency, and lets it grow until no response is in time. Shown with Netflix's
 * own library and our version of failsafe-go at their defaults; the reason why our default
 * algorithm measures its baseline.
 */
class DriftTest {
  private static final Contender WINDOWED =
      new Contender(
          "windowed",
          _ -> new NetflixAlgorithm(WindowedLimit.newBuilder().build(Gradient2Limit.newDefault())));

  private static final Contender WITHOUT_REFUSALS =
      new Contender("withoutRefusals", _ -> withoutRefusals());

  @Test
  void goodputOfNetflixsGradient2FallsToZeroWithinHalfAnHour() {
    for (String name : List.of("drift-1.2", "drift-2.0")) {
      Scenario overload = scenario(name);
      Course course = overload.play(WINDOWED, 1);
      assertThat(course.goodput(120, 180)).as(name).isGreaterThan(0.95);
      assertThat(course.limit(120, 180)).as(name).isLessThan(60);
      assertThat(course.goodput(1_740, 1_800)).as(name).isLessThan(0.05);
      assertThat(course.limit(1_740, 1_800)).as(name).isGreaterThan(150);
    }
  }

  @Test
  void withoutSampleWindowsItFallsWithinThreeMinutes() {
    Course course = scenario("step-1.2").play(Contenders.netflixGradient2(), 1);
    assertThat(course.goodput(50, 60)).isGreaterThan(0.95);
    assertThat(course.goodput(170, 180)).isLessThan(0.05);
  }

  @Test
  void goodputOfFailsafesAlgorithmFallsToZeroWithoutRefusals() {
    Course course = scenario("drift-1.2").play(WITHOUT_REFUSALS, 1);
    assertThat(course.goodput(1_740, 1_800)).isLessThan(0.05);
    assertThat(course.limit(1_740, 1_800)).isGreaterThan(150);
  }

  private static Scenario scenario(String name) {
    return Scenarios.all().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
  }

  /**
   * Returns an algorithm like failsafe-go's: it counts as in use only by the request that ends a
   * window.
   */
  private static SimulatedAlgorithm withoutRefusals() {
    FailsafeLimit limit =
        new FailsafeLimit(new LimitRange(1, 200, 20), FailsafeLimit.Settings.defaults());
    return new SimulatedAlgorithm() {
      @Override
      public int limit() {
        return limit.limit();
      }

      @Override
      public void learn(Sample sample) {
        limit.learn(sample);
      }
    };
  }
}
