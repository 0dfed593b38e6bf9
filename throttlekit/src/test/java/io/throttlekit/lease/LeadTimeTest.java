package io.throttlekit.lease;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeadTimeTest {
  private static final long LENGTH = 20_480_000;

  @Test
  void isATwentiethOfTheWindowWithoutAnswers() {
    assertThat(new LeadTime(LENGTH, 0).nanos()).isEqualTo(1_024_000);
  }

  @Test
  void leavesRoomForFourRoundTrips() {
    LeadTime lead = new LeadTime(LENGTH, 0);
    lead.answeredAfter(800_000);
    assertThat(lead.nanos()).isEqualTo(3_200_000);
  }

  @Test
  void isAtMostAQuarterOfTheWindow() {
    LeadTime lead = new LeadTime(LENGTH, 0);
    lead.answeredAfter(LENGTH);
    assertThat(lead.nanos()).isEqualTo(LENGTH / 4);
  }

  @Test
  void theSlowestAnswerDecaysByAnEighthWithEachFasterOne() {
    LeadTime lead = new LeadTime(LENGTH, 0);
    lead.answeredAfter(800_000);
    lead.answeredAfter(1);
    assertThat(lead.roundTripNanos()).isEqualTo(700_000);
    lead.answeredAfter(900_000);
    assertThat(lead.roundTripNanos()).isEqualTo(900_000);
  }

  @Test
  void countersSpreadByTheirHash() {
    assertThat(new LeadTime(LENGTH, 512).nanos()).isEqualTo(1_024_000 * 3 / 2);
    assertThat(new LeadTime(LENGTH, 1_024 + 512).nanos()).isEqualTo(1_024_000 * 3 / 2);
  }
}
