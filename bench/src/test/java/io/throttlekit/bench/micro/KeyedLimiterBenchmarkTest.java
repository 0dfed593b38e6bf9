package io.throttlekit.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.throttlekit.Overrun;
import io.throttlekit.rate.Gcra;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.annotations.Param;

class KeyedLimiterBenchmarkTest {

  static List<String> limiters() throws NoSuchFieldException {
    return List.of(
        KeyedLimiterBenchmark.class.getField("limiter").getAnnotation(Param.class).value());
  }

  @Test
  void listsOurAlgorithmsAndOtherLibraries() throws NoSuchFieldException {
    assertThat(limiters()).contains("gcra", "store:gcra", "bucket4j", "resilience4j").hasSize(9);
  }

  @ParameterizedTest
  @MethodSource("limiters")
  void everyLimiterAdmitsOrRefusesAllAsTheMixDefines(String limiter) {
    for (Mix mix : Mix.values()) {
      KeyedLimiterBenchmark benchmark = new KeyedLimiterBenchmark();
      benchmark.limiter = limiter;
      benchmark.mix = mix;
      benchmark.createLimiters();
      KeyOrder order = new KeyOrder();
      Decisions decisions = new Decisions();
      for (int i = 0; i < 50_000; i++) {
        assertThat(benchmark.decide(order, decisions)).isEqualTo(mix == Mix.ADMITTED);
      }
      assertThatCode(() -> decisions.check(benchmark)).doesNotThrowAnyException();
    }
  }

  @Test
  void aTrialWithOneOtherDecisionOrWithNoneFails() {
    for (Mix mix : Mix.values()) {
      KeyedLimiterBenchmark benchmark = new KeyedLimiterBenchmark();
      benchmark.mix = mix;
      Decisions decisions = new Decisions();
      assertThatIllegalStateException().isThrownBy(() -> decisions.check(benchmark));
      decisions.counted(mix == Mix.ADMITTED);
      decisions.check(benchmark);
      decisions.counted(mix == Mix.REFUSED);
      assertThatIllegalStateException()
          .isThrownBy(() -> decisions.check(benchmark))
          .withMessage("all were to be " + mix + ", but 1 were admitted, 1 refused");
    }
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
