package io.throttlekit.demo.fair;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A tenant lacks units only if they were surely refused in the second of its guarantee. */
class FairTallyTest {
  private static final int GOLD = 0;
  private static final long GUARANTEE = 40;

  private final FairTally tally = new FairTally();

  @Test
  void refusalsBelowTheGuaranteeAreMissing() {
    send(0, 0, 1, 200);
    send(1, 1, 31, 200);
    send(1, 1, 14, 429);
    assertThat(missing(1)).isEqualTo(9);
  }

  @Test
  void requestsThatAreDecidedInTheNextSecondOfABusyMachineAreNot() {
    send(0, 0, 9, 200);
    send(0, 1, 36, 200);
    assertThat(missing(0)).isZero();
    send(1, 1, 4, 200); // the others had the rest of the guarantee
    send(1, 1, 41, 429);
    assertThat(missing(1)).isZero();
    assertThat(tally.figures(1).get(GOLD).admitted()).isEqualTo(4);
  }

  @Test
  void aTenantThatComesBackLacksNothingInItsFirstSecond() {
    send(0, 0, 45, 200);
    send(2, 2, 45, 429);
    assertThat(missing(2)).isZero();
    send(3, 3, 45, 429);
    assertThat(missing(3)).isEqualTo(40);
  }

  @Test
  void aSecondIsAnsweredOnceAllItsRequestsAre() {
    tally.sent(1, GOLD);
    tally.sent(2, GOLD);
    assertThat(tally.isAnswered(1)).isFalse();
    tally.answered(1, 3, GOLD, 200);
    assertThat(tally.isAnswered(1)).isTrue();
    assertThat(tally.isAnswered(2)).isFalse();
    tally.answered(2, 3, GOLD, 0);
    assertThat(tally.isAnswered(2)).isTrue();
  }

  private void send(int second, int last, int requests, int status) {
    for (int i = 0; i < requests; i++) {
      tally.sent(second, GOLD);
      tally.answered(second, last, GOLD, status);
    }
    tally.limit(second, GOLD, GUARANTEE);
  }

  private long missing(int second) {
    return tally.figures(second).get(GOLD).missing();
  }
}
