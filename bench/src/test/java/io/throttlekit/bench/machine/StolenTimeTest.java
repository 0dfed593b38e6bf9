package io.throttlekit.bench.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StolenTimeTest {

  @Test
  void readsTheEighthFieldOfAllProcessors() {
    List<String> stat =
        List.of(
            "cpu  3045914 76572 189088 1770615 5695 0 17602 67502 0 0",
            "cpu0 1522957 38286 94544 885307 2847 0 8801 33751 0 0");
    assertThat(StolenTime.parse(stat)).isEqualTo(675_020);
  }
}
