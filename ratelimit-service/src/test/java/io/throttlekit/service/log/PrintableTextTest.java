package io.throttlekit.service.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrintableTextTest {
  @Test
  void replacesWhatATerminalWouldObey() {
    assertThat(
            PrintableText.of(
                "a\0\n\r\t\u001b[1m\u007f\u0085\u2028\u202e\u200b\uD800b ü\uD83D\uDE00"))
        .isEqualTo(
            "a\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD[1m\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDb"
                + " ü\uD83D\uDE00");
  }

  @Test
  void keepsTheLinesOfAPage() {
    assertThat(PrintableText.ofLines("a\nb\r\nc\u001b\n")).isEqualTo("a\nb\uFFFD\nc\uFFFD\n");
  }

  @Test
  void returnsThePrintableTextItself() {
    String text = " ~ü\uD83D\uDE00";
    assertThat(PrintableText.of(text)).isSameAs(text);
    String page = text + '\n';
    assertThat(PrintableText.ofLines(page)).isSameAs(page);
  }
}
