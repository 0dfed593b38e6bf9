package io.throttlekit.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoopbackTargetTest {

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:8081", "127.9.9.9:8081", "localhost:8081", "[::1]:8081"})
  void acceptsThisMachine(String text) {
    assertThat(LoopbackTarget.parse(text).address().getPort()).isEqualTo(8081);
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.1:8081", "0.0.0.0:8081", "[2001:db8::1]:8081", "8.8.8.8:53"})
  void refusesEveryOtherMachine(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LoopbackTarget.parse(text))
        .withMessageContaining("loopback");
  }

  @ParameterizedTest
  @ValueSource(strings = {"example.com:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", ":80"})
  void refusesNamesAndHalfAddresses(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> LoopbackTarget.parse(text));
  }

  @Test
  void isWrittenAsItWasRead() {
    assertThat(LoopbackTarget.parse("localhost:8081")).hasToString("127.0.0.1:8081");
  }
}
