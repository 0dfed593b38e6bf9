package io.throttlekit.demo.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InFlightTest {
  private final InFlight inFlight = new InFlight();

  @Test
  void hasTheHighestCountSinceItWasTaken() {
    inFlight.begin();
    inFlight.begin();
    inFlight.end();
    assertThat(inFlight.now()).isEqualTo(1);
    assertThat(inFlight.max()).isEqualTo(2);
    assertThat(inFlight.takeMax()).isEqualTo(2);
    assertThat(inFlight.takeMax()).as("what is in flight still counts").isEqualTo(1);
    inFlight.end();
    assertThat(inFlight.takeMax()).isEqualTo(1);
    assertThat(inFlight.takeMax()).isZero();
  }
}
