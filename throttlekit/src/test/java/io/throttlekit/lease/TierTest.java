package io.throttlekit.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Cost;
import io.throttlekit.DataLoss;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import java.util.List;
import org.junit.jupiter.api.Test;

class TierTest {
  private static final LeaseSize TEN = new LeaseSize.Fixed(10);

  @Test
  void optionsOfALeaseAreInTheirRanges() {
    assertThat(new Tier.Leased(TEN, true, 0, 0).lowWater()).isZero();
    assertThatThrownBy(() -> new Tier.Leased(TEN, true, -1, 0))
        .hasMessage("low_water must be 0 or more, was -1");
    assertThatThrownBy(() -> new Tier.Leased(TEN, true, 0, -1))
        .hasMessage("return_idle_after must be 0 or more ms, was -1");
    assertThat(global(0, 0).lowWater()).isZero();
    assertThatThrownBy(() -> global(-1, 0)).hasMessage("low_water must be 0 or more, was -1");
    assertThatThrownBy(() -> global(0, -1))
        .hasMessage("return_idle_after must be 0 or more ms, was -1");
  }

  @Test
  void aFixedSizeIsInItsRangeAndLearnsNothing() {
    assertThat(new LeaseSize.Fixed(1).size(0, 100)).isEqualTo(1);
    assertThat(new LeaseSize.Fixed(Cost.MAX).size(0, 100)).isEqualTo(100);
    assertThat(new LeaseSize.Fixed(1).learns()).isFalse();
    assertThatThrownBy(() -> new LeaseSize.Fixed(0))
        .hasMessage("size must be from 1 to 2^53-1, was 0");
    assertThatThrownBy(() -> new LeaseSize.Fixed(Cost.MAX + 1))
        .hasMessage("size must be from 1 to 2^53-1, was " + (Cost.MAX + 1));
  }

  private static Tier.Global global(long lowWater, long returnIdleAfterMillis) {
    Terms terms = new Terms("shop", List.of(new FixedWindow(100, 1_000)));
    return new Tier.Global(TEN, lowWater, returnIdleAfterMillis, terms, DataLoss.REFILL, false);
  }
}
