package io.throttlekit.testkit.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ReservedPortTest {
  private static final int SEED = 7;

  @Test
  void isReservedOnceUntilItIsClosed() {
    int number;
    try (ReservedPort one = ReservedPort.take(new SplittableRandom(SEED));
        ReservedPort other = ReservedPort.take(new SplittableRandom(SEED))) {
      number = one.number();
      assertThat(other.number()).isNotEqualTo(number);
    }
    try (ReservedPort again = ReservedPort.take(new SplittableRandom(SEED))) {
      assertThat(again.number()).isEqualTo(number);
    }
  }

  @Test
  void canBeListenedOnRepeatedly() throws IOException {
    try (ReservedPort port = ReservedPort.take()) {
      for (int i = 0; i < 3; i++) {
        new ServerSocket(port.number(), 1, InetAddress.getLoopbackAddress()).close();
      }
    }
  }

  @Test
  void skipsPortsInUse() throws IOException {
    int number;
    try (ReservedPort first = ReservedPort.take(new SplittableRandom(SEED))) {
      number = first.number();
    }
    try (ServerSocket _ = new ServerSocket(number, 1, InetAddress.getLoopbackAddress());
        ReservedPort next = ReservedPort.take(new SplittableRandom(SEED))) {
      assertThat(next.number()).isNotEqualTo(number);
    }
  }
}
