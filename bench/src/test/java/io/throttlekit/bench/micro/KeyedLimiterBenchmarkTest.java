package io.throttlekit.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Overrun;
import io.throttlekit.rate.Gcra;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyedLimiterBenchmarkTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fixed_window",
        "sliding_window",
        "sliding_log",
        "gcra",
        "token_bucket",
        "bucket4j",
        "resilience4j",
        "store:fixed_window",
        "store:gcra"
      })
  void everyLimiterAdmitsTheFirstUnitOfAKey(String limiter) {
    KeyedLimiterBenchmark benchmark = new KeyedLimiterBenchmark();
    benchmark.limiter = limiter;
    benchmark.createLimiters();
    assertThat(benchmark.decide(new KeyOrder())).isTrue();
  }

  @Test
  void aCellDecidesAsItsAlgorithmDoes() {
    Gcra algorithm = new Gcra(3, 1_000);
    CasCell<Gcra.State> cell = new CasCell<>(algorithm);
    Gcra.State state = null;
    for (long now = 0; now < 5_000; now += 100) {
      var expected = algorithm.charge(state, now, 1, Overrun.REFUSE);
      state = expected.state();
      assertThat(cell.charge(now, 1)).isEqualTo(expected.decision());
    }
  }
}
