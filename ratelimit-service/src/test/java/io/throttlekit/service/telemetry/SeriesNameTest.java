package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SeriesNameTest {

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "det_10.0.0.1:80|x, det_10_0_0_1_80_x",
        "192.168.255.254, 192_168_255_254",
        "a.b.c.d, a.b.c.d",
        "1.2.3, 1.2.3",
        "plain-*/x, plain-*/x",
        "$1\\, $1\\",
      })
  void replacesColonsBarsAndAddressesLikeTheOriginal(String text, String label) {
    assertThat(SeriesName.text(text)).isEqualTo(label);
  }

  @Test
  void replacesWhatCouldForgeAStatistic() {
    assertThat(SeriesName.text("a\nb: 7\r\u001b[31m\0\u2028\u202ed"))
        .isEqualTo("a\uFFFDb_ 7\uFFFD\uFFFD[31m\uFFFD\uFFFD\uFFFDd");
    String cutInACharacter = "x".repeat(255) + "\uD83D\uDE00";
    assertThat(SeriesName.text(cutInACharacter)).isEqualTo("x".repeat(255) + '\uFFFD');
  }

  @Test
  void returnsTheSameTextIfNothingChanges() {
    String text = "user_anna";

    assertThat(SeriesName.text(text)).isSameAs(text);
  }
}
