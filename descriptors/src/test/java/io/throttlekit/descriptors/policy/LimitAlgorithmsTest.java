package io.throttlekit.descriptors.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.Loading;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.Sample;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitAlgorithmsTest {
  private static final long MILLI = 1_000_000;

  @ParameterizedTest
  @ValueSource(strings = {"gradient2", "aimd"})
  void theRecalibrationOfARuleLowersItsLimit(String algorithm) {
    String rule = "algorithm: " + algorithm + ", min: 3, max: 50";
    assertThat(after(100, limit(rule))).isGreaterThan(7);
    assertThat(after(100, limit(rule + ", recalibration: {interval: 50ms, probe_limit: 7}")))
        .isEqualTo(7);
  }

  @Test
  void theParametersOfFailsafeAreThoseOfTheRule() {
    String rule = "algorithm: failsafe, failsafe: {max_limit_factor: 5}";
    assertThat(after(100, limit(rule))).as("no window has ended").isEqualTo(20);
    String quick = rule.replace("{", "{recent_window: {min: 1ms, max: 1ms, samples: 2}, ");
    assertThat(after(100, limit(quick))).isGreaterThan(20);
    assertThat(after(100, limit(quick.replace("factor: 5", "factor: 1")))).isLessThan(20);
  }

  /** Returns the limit after requests that ended 1 ms apart, with 15 in flight. */
  private static int after(int requests, ConcurrencyLimit limit) {
    for (int i = 1; i <= requests; i++) {
      long now = i * MILLI;
      limit.learn(new Sample(now - MILLI, MILLI, now, 15, false, false));
    }
    return limit.limit();
  }

  private static ConcurrencyLimit limit(String concurrency) {
    ConcurrencyRule rule =
        Objects.requireNonNull(
            Loading.onlyRule(
                    "domain: d\ndescriptors:\n  - {key: k, concurrency: {" + concurrency + "}}\n")
                .concurrency());
    return LimitAlgorithms.of(rule, rule.range().initial());
  }
}
