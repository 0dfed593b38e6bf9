package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LimitHistoryTest {
  private static final long SECOND = 1_000_000_000;

  private final LimitHistory ceilings = new LimitHistory(20);

  @Test
  void aRequestBeganBelowTheCeilingThatWasObeyedThen() {
    ceilings.obeyed(30, -50 * SECOND);
    ceilings.obeyed(30, -20 * SECOND); // no change
    ceilings.obeyed(40, 10 * SECOND);
    assertThat(at(-51 * SECOND)).isEqualTo(20);
    assertThat(at(-50 * SECOND)).isEqualTo(30);
    assertThat(at(9 * SECOND)).isEqualTo(30);
    assertThat(at(10 * SECOND)).isEqualTo(40);
    assertThat(at(Long.MIN_VALUE / 2)).isEqualTo(20);
  }

  @Test
  void theMeanIsOfTheRequestsOfTheWindow() {
    assertThat(ceilings.mean()).isEqualTo(20);
    ceilings.obeyed(30, 100 * SECOND);
    ceilings.began(0 * SECOND);
    ceilings.began(100 * SECOND);
    ceilings.began(200 * SECOND);
    ceilings.began(300 * SECOND);
    assertThat(ceilings.mean()).isEqualTo(27.5);
    ceilings.next();
    assertThat(ceilings.mean()).isEqualTo(30);
  }

  @Test
  void whatIsTooLongAgoCountsAsTheEarliestThatIsRemembered() {
    for (int i = 1; i <= 100; i++) {
      ceilings.obeyed(20 + i, i * SECOND);
    }
    assertThat(at(100 * SECOND)).isEqualTo(120);
    assertThat(at(86 * SECOND)).isEqualTo(106);
    assertThat(at(85 * SECOND)).isEqualTo(105);
    assertThat(at(3 * SECOND)).isEqualTo(105);
  }

  @Test
  void ofThoseThatFollowCloselyTheLastIsRemembered() {
    for (int i = 0; i < 50; i++) { // as the acknowledgements of a fleet arrive
      ceilings.obeyed(21 + i, 10 * SECOND + i * SECOND / 50);
    }
    assertThat(at(9 * SECOND)).isEqualTo(20);
    assertThat(at(12 * SECOND)).isEqualTo(70);
  }

  private double at(long nanos) {
    ceilings.next();
    ceilings.began(nanos);
    return ceilings.mean();
  }
}
