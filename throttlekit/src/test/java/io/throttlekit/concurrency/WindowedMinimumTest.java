package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WindowedMinimumTest {

  @Test
  void isTheLeastOfTheLastSoMany() {
    for (int seed = 0; seed < 50; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int window = 1 + random.nextInt(20);
      WindowedMinimum minimum = new WindowedMinimum(window);
      long[] values = new long[300];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextInt(1 + random.nextInt(30));
        minimum.add(values[i]);
        long least = Long.MAX_VALUE;
        for (int j = Math.max(0, i - window + 1); j <= i; j++) {
          least = Math.min(least, values[j]);
        }
        assertThat(minimum.least()).as("seed %s step %s", seed, i).isEqualTo(least);
      }
    }
  }

  @Test
  void forgetsWithAReset() {
    WindowedMinimum minimum = new WindowedMinimum(3);
    minimum.add(1);
    minimum.reset();
    minimum.add(5);
    assertThat(minimum.least()).isEqualTo(5);
  }
}
