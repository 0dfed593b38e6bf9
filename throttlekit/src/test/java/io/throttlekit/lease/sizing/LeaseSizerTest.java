package io.throttlekit.lease.sizing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeaseSizerTest {
  private static final long LIMIT = 100;

  @Test
  void everyKindOfLeaseSizeHasItsSizer() {
    assertThat(LeaseSizer.of(new LeaseSize.Fixed(16), LIMIT).size(0, LIMIT)).isEqualTo(16);
    assertThat(LeaseSizer.of(new LeaseSize.Fixed(16), LIMIT).size(0, 9)).isEqualTo(9);
    assertThat(LeaseSizer.of(new LeaseSize.Adaptive(), LIMIT)).isInstanceOf(EoqSizer.class);
    assertThat(LeaseSizer.of(new LeaseSize.Predictive(), LIMIT))
        .isInstanceOf(PredictiveSizer.class);
  }
}
