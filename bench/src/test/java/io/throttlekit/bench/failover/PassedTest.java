package io.throttlekit.bench.failover;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PassedTest {
  @Test
  void countsRequestsThatPassedSinceTheFault() {
    Passed passed = new Passed();
    passed.answered(0, 200);
    passed.answered(1, 429);
    passed.failedAt(10);
    passed.answered(20, 429);
    passed.answered(1_000_000_010, 200);
    passed.answered(500, 200);
    passed.answered(2_000_000_000, 0);
    assertThat(passed.before()).isOne();
    assertThat(passed.passed()).isEqualTo(2);
    assertThat(passed.lastSeconds()).isEqualTo(1);
    assertThat(passed.failed()).isOne();
  }
}
