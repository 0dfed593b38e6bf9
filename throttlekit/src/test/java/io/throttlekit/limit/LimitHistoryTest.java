package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LimitHistoryTest {
  private static final long SECOND = 1_000_000_000;

  private final LimitHistory limits = new LimitHistory(20);

  @Test
  void aRequestBeganBelowTheLimitAcknowledgedThen() {
    limits.acknowledged(30, -50 * SECOND);
    limits.acknowledged(30, -20 * SECOND); // no change
    limits.acknowledged(40, 10 * SECOND);
    assertThat(at(-51 * SECOND)).isEqualTo(20);
    assertThat(at(-50 * SECOND)).isEqualTo(30);
    assertThat(at(9 * SECOND)).isEqualTo(30);
    assertThat(at(10 * SECOND)).isEqualTo(40);
    assertThat(at(Long.MIN_VALUE / 2)).isEqualTo(20);
  }

  @Test
  void theMeanIsOfTheRequestsOfTheWindow() {
    assertThat(limits.mean()).isEqualTo(20);
    limits.acknowledged(30, 100 * SECOND);
    limits.began(0 * SECOND);
    limits.began(100 * SECOND);
    limits.began(200 * SECOND);
    limits.began(300 * SECOND);
    assertThat(limits.mean()).isEqualTo(27.5);
    limits.next();
    assertThat(limits.mean()).isEqualTo(30);
  }

  @Test
  void timesBeforeTheHistoryCountAsItsEarliestEntry() {
    for (int i = 1; i <= 100; i++) {
      limits.acknowledged(20 + i, i * SECOND);
    }
    assertThat(at(100 * SECOND)).isEqualTo(120);
    assertThat(at(86 * SECOND)).isEqualTo(106);
    assertThat(at(85 * SECOND)).isEqualTo(105);
    assertThat(at(3 * SECOND)).isEqualTo(105);
  }

  @Test
  void ofCloselyFollowingChangesTheLastIsKept() {
    for (int i = 0; i < 50; i++) { // as the acknowledgements of a fleet arrive
      limits.acknowledged(21 + i, 10 * SECOND + i * SECOND / 50);
    }
    assertThat(at(9 * SECOND)).isEqualTo(20);
    assertThat(at(12 * SECOND)).isEqualTo(70);
  }

  private double at(long nanos) {
    limits.next();
    limits.began(nanos);
    return limits.mean();
  }
}
