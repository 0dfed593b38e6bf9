package io.throttlekit.limit.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SlicedMeanTest {
  private static final long SEED = 20;

  private final SlicedMean mean = new SlicedMean();

  @Test
  void anInterruptionOfAFifthOfTheRequestsIsIgnored() {
    for (int i = 0; i < 80; i++) {
      add(10L * i, 20);
    }
    for (int i = 0; i < 20; i++) { // all in flight ended when a pause of a second was over
      add(1_800, 1_000);
    }
    assertThat(mean.mean()).isEqualTo(20);
    assertThat(mean.count()).isEqualTo(100);
  }

  @Test
  void slowRequestsAmongOthersCountInFull() {
    SplittableRandom random = new SplittableRandom(SEED);
    double sum = 0;
    for (int i = 0; i < 1_000; i++) {
      int latency = random.nextInt(10) == 0 ? 150 : 5;
      sum += latency;
      add(i, latency);
    }
    assertThat(mean.mean()).as("seed %s", SEED).isEqualTo(sum / 1_000, within(1.0));
  }

  @Test
  void theOrderOfRequestsDoesNotMatter() {
    add(900, 90);
    add(100, 10);
    add(500, 50);
    add(120, 10);
    for (int i = 0; i < 10; i++) {
      add(500 + i, 50);
    }
    SlicedMean sorted = new SlicedMean();
    for (int latency : new int[] {10, 10, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 90}) {
      sorted.add(latency * 10_000_000L, latency);
    }
    assertThat(mean.mean()).isEqualTo(sorted.mean());
  }

  @Test
  void aFewRequestsAreOneGroup() {
    add(0, 10);
    add(1_000, 20);
    add(2_000, 60);
    assertThat(mean.mean()).isEqualTo(30);
  }

  @Test
  void oldSlicesAreJoinedAndNoneIsLost() {
    for (int i = 0; i < 1_000; i++) {
      add(100L * i, 30);
    }
    add(0, 30); // older than all that are kept
    assertThat(mean.count()).isEqualTo(1_001);
    assertThat(mean.mean()).isEqualTo(30, within(1e-9));
  }

  @Test
  void theErrorOfAlikeLatenciesIsZeroAndFallsWithTheRootOfTheirNumber() {
    add(0, 10);
    add(0, 10);
    assertThat(mean.relativeError()).isZero();
    mean.reset();
    for (int i = 0; i < 100; i++) { // deviation of half the mean
      add(i, i % 2 == 0 ? 5 : 15);
    }
    assertThat(mean.relativeError()).isEqualTo(0.05, within(1e-9));
  }

  @Test
  void nothingIsLeftAfterAReset() {
    add(0, 1_000);
    mean.reset();
    assertThat(mean.count()).isZero();
    assertThatIllegalStateException().isThrownBy(mean::mean);
    add(0, 10);
    assertThat(mean.mean()).isEqualTo(10);
  }

  private void add(long endMillis, long latency) {
    mean.add(endMillis * 1_000_000, latency);
  }
}
