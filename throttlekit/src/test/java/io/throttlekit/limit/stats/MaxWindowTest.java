package io.throttlekit.limit.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MaxWindowTest {

  @Test
  void isTheMaximumOfTheLastSamples() {
    for (int seed = 0; seed < 50; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int span = 1 + random.nextInt(20);
      MaxWindow window = new MaxWindow(span);
      long[] values = new long[300];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextLong(-15, -14 + random.nextInt(30));
        long greatest = Long.MIN_VALUE;
        for (int j = Math.max(0, i - span + 1); j <= i; j++) {
          greatest = Math.max(greatest, values[j]);
        }
        assertThat(window.add(values[i], i)).as("seed %s step %s", seed, i).isEqualTo(greatest);
      }
    }
  }
}
