package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ObeyedCeilingsTest {
  private final ObeyedCeilings ceilings = new ObeyedCeilings(20);

  @Test
  void aRequestBeganBelowTheCeilingThatWasObeyedThen() {
    ceilings.obeyed(30, -50);
    ceilings.obeyed(30, -20); // nothing new
    ceilings.obeyed(40, 10);
    assertThat(at(-51)).isEqualTo(20);
    assertThat(at(-50)).isEqualTo(30);
    assertThat(at(9)).isEqualTo(30);
    assertThat(at(10)).isEqualTo(40);
    assertThat(at(Long.MIN_VALUE / 2)).isEqualTo(20);
  }

  @Test
  void theMeanIsOfTheRequestsOfTheWindow() {
    assertThat(ceilings.mean()).isEqualTo(20);
    ceilings.obeyed(30, 100);
    ceilings.began(0);
    ceilings.began(100);
    ceilings.began(200);
    ceilings.began(300);
    assertThat(ceilings.mean()).isEqualTo(27.5);
    ceilings.next();
    assertThat(ceilings.mean()).isEqualTo(30);
  }

  @Test
  void whatIsTooLongAgoCountsAsTheEarliestThatIsRemembered() {
    for (int i = 1; i <= 100; i++) {
      ceilings.obeyed(20 + i, i);
    }
    assertThat(at(100)).isEqualTo(120);
    assertThat(at(86)).isEqualTo(106);
    assertThat(at(85)).isEqualTo(105);
    assertThat(at(3)).isEqualTo(105);
  }

  private double at(long nanos) {
    ceilings.next();
    ceilings.began(nanos);
    return ceilings.mean();
  }
}
