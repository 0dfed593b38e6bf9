package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PriorityTest {
  @ParameterizedTest
  @EnumSource
  void everyPriorityIsFoundByItsName(Priority priority) {
    assertThat(Priority.named(priority.name())).isSameAs(priority);
    assertThat(Priority.named(priority.name().toLowerCase(Locale.ROOT))).isSameAs(priority);
    assertThat(Priority.isLevel(priority.name())).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "7", "007", "499"})
  void aNumberInRangeIsALevel(String text) {
    assertThat(Priority.level(text)).isEqualTo(Integer.parseInt(text));
    assertThat(Priority.isLevel(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "500", "0007", "-1", "+1", "1.0", "٣", "urgent", "high ", "very-low"})
  void otherTextIsNeitherLevelNorPriority(String text) {
    assertThat(Priority.level(text)).isNegative();
    assertThat(Priority.named(text)).isNull();
    assertThat(Priority.isLevel(text)).isFalse();
  }

  @Test
  void levelsGrowWithTheirPriority() {
    assertThat(Priority.LOW.lowest()).isEqualTo(Priority.VERY_LOW.highest() + 1);
    assertThat(Priority.VERY_HIGH.highest()).isEqualTo(Priority.MAX_LEVEL);
  }
}
