package io.throttlekit.lease.sizing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemandWindowTest {
  private static final long LIMIT = 100;

  /** Always requests 7, and records the observed demand. */
  private static final class Notes implements LeaseSizer {
    private final List<Long> demands = new ArrayList<>();
    private long offered = -1;
    private long size = 7;

    @Override
    public long size(long offered, long limit) {
      this.offered = offered;
      return size;
    }

    @Override
    public void observe(long demand, long limit) {
      demands.add(demand);
    }
  }

  private final Notes notes = new Notes();
  private final DemandWindow window = new DemandWindow(notes, 1_000);

  @Test
  void observesExactlyWhatEachWindowWasOffered() {
    long[] offered = {20, 5, 40, 13};
    for (int i = 0; i < offered.length; i++) {
      for (int request = 0; request < offered[i]; request++) {
        window.offer(1, LIMIT, i * 1_000L + request);
      }
    }
    assertThat(notes.demands).containsExactly(20L, 5L, 40L);
    window.offer(1, LIMIT, 4_000);
    assertThat(notes.demands).containsExactly(20L, 5L, 40L, 13L);
  }

  @Test
  void closesAWindowByTheClockAloneThoughNothingWasEverGranted() {
    window.offer(3, LIMIT, 999);
    window.size(0, LIMIT, 1_000);
    assertThat(notes.demands).containsExactly(3L);
  }

  @Test
  void windowsAreAlignedToTheEpochWheneverTheFirstRequestCame() {
    window.offer(1, LIMIT, 1_700);
    window.offer(1, LIMIT, 1_999);
    assertThat(notes.demands).isEmpty();
    window.offer(1, LIMIT, 2_000);
    assertThat(notes.demands).containsExactly(2L);
  }

  @Test
  void aMillionIdleWindowsAreSkippedAtOnce() {
    window.offer(4, LIMIT, 0);
    window.offer(6, LIMIT, 1_000_000_000_500L);
    window.offer(1, LIMIT, 2_000_000_001_000L);
    assertThat(notes.demands).containsExactly(4L, 6L);
  }

  @Test
  void timeThatRunsBackwardsStaysInTheNewestWindow() {
    window.offer(1, LIMIT, 5_000);
    window.offer(1, LIMIT, 3_000);
    window.offer(1, LIMIT, 5_999);
    assertThat(notes.demands).isEmpty();
    window.offer(1, LIMIT, 6_000);
    assertThat(notes.demands).containsExactly(3L);
  }

  @Test
  void asksForWhatWaitsAtLeastAndForTheLimitAtMost() {
    window.offer(30, LIMIT, 0);
    assertThat(window.size(1, LIMIT, 0)).isEqualTo(7);
    assertThat(window.size(30, LIMIT, 0)).isEqualTo(30);
    assertThat(window.size(0, 5, 0)).isEqualTo(5);
    notes.size = 0;
    assertThat(window.size(0, LIMIT, 0)).isOne();
  }

  @Test
  void theSizerHearsWhatWasOfferedBeforeTheRequestsThatWait() {
    window.offer(10, LIMIT, 0);
    window.offer(3, LIMIT, 1);
    window.size(3, LIMIT, 1);
    assertThat(notes.offered).isEqualTo(10);
    window.size(1, LIMIT, 1_000);
    assertThat(notes.offered).isZero();
  }

  @Test
  void countsWithoutOverflow() {
    window.offer(Long.MAX_VALUE, LIMIT, 0);
    window.offer(Long.MAX_VALUE, LIMIT, 0);
    window.offer(0, LIMIT, 1_000);
    assertThat(notes.demands).containsExactly(Long.MAX_VALUE);
  }

  @Test
  void aFloodThatIsRefusedDoesNotKeepTheKeyFromBeingLeasedAgain() {
    DemandWindow flooded = new DemandWindow(LeaseSizer.of(new LeaseSize.Adaptive(), LIMIT), 1_000);
    for (long now = 0; now < 60_000; now += 10) {
      flooded.offer(1_000, LIMIT, now);
      assertThat(flooded.size(1, LIMIT, now)).isBetween(1L, LIMIT);
    }
  }

  @Test
  void everyKindOfLeaseSizeHasItsSizer() {
    assertThat(LeaseSizer.of(new LeaseSize.Fixed(16), LIMIT).size(0, LIMIT)).isEqualTo(16);
    assertThat(LeaseSizer.of(new LeaseSize.Fixed(16), LIMIT).size(0, 9)).isEqualTo(9);
    assertThat(LeaseSizer.of(new LeaseSize.Adaptive(), LIMIT)).isInstanceOf(EoqSizer.class);
    assertThat(LeaseSizer.of(new LeaseSize.Predictive(), LIMIT))
        .isInstanceOf(PredictiveSizer.class);
  }
}
