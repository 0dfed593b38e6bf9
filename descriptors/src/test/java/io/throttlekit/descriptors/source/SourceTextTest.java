package io.throttlekit.descriptors.source;

import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SourceTextTest {

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r\n", "\r"})
  void countsLinesLikeTheParserForEveryLineEnd(String end) {
    String before = "domain: d" + end + "descriptors:" + end;
    assertThat(problems(before + "- key: a\u0001" + end))
        .containsExactly(
            "a.yaml:3:9: error: the character U+0001 is not allowed"
                + " (remove it, or write it as an escape in double quotes)");
    assertThat(problems(before + "- key: a\udc00" + end))
        .containsExactly("a.yaml:3:9: error: not a text file in UTF-8 (save it as UTF-8)");
    assertThat(problems(before + "- kye: a" + end)).anyMatch(p -> p.startsWith("a.yaml:3:3: "));
  }

  @Test
  void countsCodePointsAndNoByteOrderMark() {
    assertThat(SourceText.locate("f", "\uFEFF\ud83d\ude00x\n\r\r\ny", 2).column()).isEqualTo(2);
    assertThat(SourceText.locate("f", "\uFEFFab\n\r\r\ny", 7))
        .isEqualTo(new SourceLocation("f", 4, 1));
    assertThat(SourceText.locate("f", "ab", 99)).isEqualTo(new SourceLocation("f", 1, 3));
  }
}
