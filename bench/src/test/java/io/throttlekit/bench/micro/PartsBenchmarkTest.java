package io.throttlekit.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PartsBenchmarkTest {

  @Test
  void theMatchBenchmarkFindsTheRulesThatItMeansToFindAndNoOthers() {
    PolicyMatchBenchmark benchmark = new PolicyMatchBenchmark();
    KeyOrder order = new KeyOrder();
    for (int i = 0; i < 100; i++) {
      assertThat(benchmark.matches(order)).isNotNull();
      assertThat(benchmark.misses(order)).isNull();
    }
  }

  @Test
  void theStoreBenchmarkCharges() {
    StoreBenchmark benchmark = new StoreBenchmark();
    assertThat(benchmark.acquireOne(new KeyOrder()).remaining()).isEqualTo(999_999_999);
    assertThat(benchmark.acquireTwo(new KeyOrder()).decisions()).hasSize(2);
  }
}
