package io.throttlekit.simulator.leases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class Mulberry32Test {

  @Test
  void theSequenceOfASeedIsTheKnownOne() {
    Mulberry32 random = new Mulberry32(1);
    assertThat(random.uniform()).isEqualTo(0.6270739405881613);
    assertThat(random.uniform()).isEqualTo(0.002735721180215478);
  }

  @Test
  void demandsHaveTheirMeanAndDeviation() {
    double[] demands =
        Arrays.stream(Demands.normal(7, 100, 0.3, 100_000)).asDoubleStream().toArray();
    double mean = Arrays.stream(demands).average().orElseThrow();
    double variance =
        Arrays.stream(demands).map(d -> (d - mean) * (d - mean)).average().orElseThrow();
    assertThat(mean).isCloseTo(100, within(0.5));
    assertThat(Math.sqrt(variance)).isCloseTo(30, within(0.5));
  }
}
