package io.throttlekit.descriptors.policy;

import static io.throttlekit.descriptors.policy.Descriptors.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class LevelTest {
  private static final int BITS = 9;

  @Test
  void findsEachOfManyTextsOfOneHashCodeAndNoOther() {
    List<CompiledDescriptor> descriptors = new ArrayList<>();
    for (int i = 0; i < 1 << BITS; i += 2) {
      descriptors.add(compiled(key(alike(i)).of()));
      descriptors.add(compiled(key("k").value(alike(i)).of()));
    }
    Level level = new Level(descriptors);

    for (int i = 0; i < 1 << BITS; i++) {
      CompiledDescriptor whole = i % 2 == 0 ? descriptors.get(i) : null;
      CompiledDescriptor withValue = i % 2 == 0 ? descriptors.get(i + 1) : null;
      assertThat(level.find(alike(i), "v")).isSameAs(whole);
      assertThat(level.withText(alike(i))).isSameAs(whole);
      assertThat(level.find("k", alike(i))).isSameAs(withValue);
      assertThat(level.withText("k_" + alike(i))).isSameAs(withValue);
    }
  }

  @Test
  void findsTextsOfConsecutiveHashCodes() {
    List<CompiledDescriptor> descriptors = new ArrayList<>();
    for (char c = 0x100; c < 0x1100; c++) {
      descriptors.add(compiled(key("k" + c).of()));
    }
    Level level = new Level(descriptors);

    for (CompiledDescriptor descriptor : descriptors) {
      assertThat(level.find(descriptor.composite, "v")).isSameAs(descriptor);
    }
    assertThat(level.find("k" + (char) 0xFF, "v")).isNull();
    assertThat(level.find("k" + (char) 0x1100, "v")).isNull();
  }

  @Test
  void refusesTwoOfOneTextEvenAmongManyOfOneHashCode() {
    List<CompiledDescriptor> descriptors = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      descriptors.add(compiled(key(alike(i)).line(i).of()));
    }
    descriptors.add(compiled(key(alike(99)).line(100).of()));

    assertThatThrownBy(() -> new Level(descriptors))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "shop.yaml:100:5: the text "
                + alike(99)
                + " is taken by the descriptor at shop.yaml:99:5");
  }

  @Test
  void comparesWithAnEntryAsWithItsText() {
    for (String text : List.of("k_v", "k", "k_", "k_vv", "j", "l_v", "k_u", "k_w", "kk_v", "")) {
      assertThat(Integer.signum(Level.compare(text, "k", "v")))
          .as(text)
          .isEqualTo(Integer.signum(text.compareTo("k_v")));
    }
  }

  private static CompiledDescriptor compiled(DescriptorNode node) {
    EntryPattern expects = Objects.requireNonNull(EntryPattern.of(node));
    return new CompiledDescriptor(expects, null, Level.EMPTY);
  }

  /** Returns texts of one hash code, different for each number below 512. */
  private static String alike(int number) {
    StringBuilder text = new StringBuilder();
    for (int bit = 0; bit < BITS; bit++) {
      text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return text.toString();
  }
}
