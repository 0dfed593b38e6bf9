package io.throttlekit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters whose entries are too long to be kept unchanged. */
@Tag("slow")
class LongKeysTest {
  private static final String SCOPE = "4:shop/fixed_window/1000";

  /** Returns a key whose entries take so many bytes: 1 + 4 of the key, 2 of the value's length. */
  private static CounterKey ofBytes(int bytes, char last) {
    return CounterKey.of(SCOPE, "user", "x".repeat(bytes - 8) + last);
  }

  @Test
  void staysAsItIsUpTo128Bytes() {
    assertThat(ofBytes(128, 'a')).hasToString(SCOPE + "|4:user|121:" + "x".repeat(120) + 'a');
  }

  @Test
  void showsItsFirst64BytesAndAHashFrom129Bytes() {
    String text = ofBytes(129, 'a').toString();
    assertThat(text)
        .startsWith(SCOPE + "~|4:user|122:" + "x".repeat(57) + '~')
        .hasSize(SCOPE.length() + 13 + 57 + 1 + 43);
    assertThat(ofBytes(129, 'b').toString()).isNotEqualTo(text);
    assertThat(ofBytes(129, 'b')).isNotEqualTo(ofBytes(129, 'a'));
    assertThat(ofBytes(129, 'a')).isEqualTo(ofBytes(129, 'a')).hasToString(text);
  }

  /** Stored names must not change: processes of different releases share them. */
  @Test
  void hasAStableStoredName() {
    assertThat(CounterKey.of(SCOPE, "user", "x".repeat(1_000)))
        .hasToString(
            SCOPE
                + "~|4:user|1000:"
                + "x".repeat(57)
                + "~CfKWkgHHK312L2DYCkImVVxG7w67jpXUS4pHR9Pi4yw");
  }

  @ParameterizedTest(name = "{0} bytes")
  @ValueSource(ints = {129, 1_000, 58_000, 250_000})
  void takesTheSameMemoryForAnyLength(int bytes) {
    assertThat(ofBytes(bytes, 'a').toString()).hasSizeLessThan(SCOPE.length() + 128);
    assertThat(CounterKey.shortened(new byte[bytes])).hasSize(97);
  }

  @Test
  void differsInEveryScope() {
    CounterKey key = ofBytes(500, 'a');
    assertThat(key.inScope("other")).isNotEqualTo(key);
    assertThat(key.inScope("other").toString()).startsWith("other~").isNotEqualTo(key.toString());
    assertThat(key.inScope("other").inScope(SCOPE)).isEqualTo(key).hasToString(key.toString());
  }

  @Test
  void cannotBeForgedByEntriesOfTheSameText() {
    CounterKey key = CounterKey.of(SCOPE, "user", "x".repeat(101), "path", "y".repeat(1_000));
    String entries = key.toString().substring(SCOPE.length());
    String shown = entries.substring(entries.indexOf("x"));
    assertThat(shown).hasSize(101); // the removed part is as long as its replacement
    List<CounterKey> imitations =
        List.of(
            CounterKey.of(SCOPE, "user", shown),
            CounterKey.of(SCOPE, "user", shown.substring(1)),
            CounterKey.of(SCOPE, entries),
            CounterKey.of(SCOPE, entries.substring(1)),
            CounterKey.of(SCOPE, "~", entries),
            CounterKey.of(SCOPE, "", entries));
    for (CounterKey imitation : imitations) {
      assertThat(imitation).isNotEqualTo(key);
      assertThat(imitation.toString()).isNotEqualTo(key.toString());
    }
  }

  /**
   * A short form is never the encoding of entries: otherwise another counter could have the same
   * bytes.
   */
  @Test
  void isStoredUnlikeOtherEntries() {
    byte[] form = CounterKey.shortened(CounterKey.encode(new String[] {"a", "b".repeat(200)}));
    assertThat(CounterKey.isShort(form)).isTrue();
    Random random = new Random(12);
    for (int i = 0; i < 20_000; i++) {
      String[] texts = Entries.random(random, 64);
      assertThat(CounterKey.isShort(CounterKey.encode(texts))).isFalse();
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void keepsEntriesApartThatBeginAlike(long seed) {
    Random random = new Random(seed);
    Map<String, List<String>> ofText = new HashMap<>();
    Map<CounterKey, List<String>> ofKey = new HashMap<>();
    Set<Integer> sides = new HashSet<>();
    for (int i = 0; i < 4_000; i++) {
      String[] entries = Entries.random(random, 200);
      for (int n = 0; n < 4; n++) {
        List<String> list = List.of(entries);
        CounterKey key = CounterKey.of(SCOPE, entries.clone());
        assertThat(ofText.merge(key.toString(), list, (first, _) -> first)).isEqualTo(list);
        assertThat(ofKey.merge(key, list, (first, _) -> first)).isEqualTo(list);
        sides.add(Integer.signum(CounterKey.encode(entries).length - CounterKey.MAX_BYTES));
        entries = Entries.changed(random, entries);
      }
    }
    assertThat(sides).as("short, longest and long keys").containsExactlyInAnyOrder(-1, 0, 1);
  }

  private static final class Entries {
    private static final String ALPHABET = "ab|:~0{}ü€\ud83d\ude00\0";

    static String[] random(Random random, int longest) {
      String[] entries = new String[2 * (1 + random.nextInt(3))];
      Arrays.setAll(entries, _ -> text(random, random.nextInt(longest)));
      return entries;
    }

    /** Changes one place, in long entries beyond the readable part. */
    static String[] changed(Random random, String[] entries) {
      String[] other = entries.clone();
      int at = other.length - 1 - random.nextInt(2);
      String text = other[at];
      other[at] =
          switch (random.nextInt(4)) {
            case 0 -> text + text(random, 1);
            case 1 -> text.isEmpty() ? "z" : text.substring(1);
            case 2 -> text.isEmpty() ? "y" : text.substring(0, text.length() - 1) + 'q';
            default -> text + CounterKey.MAX_BYTES;
          };
      return other;
    }

    private static String text(Random random, int length) {
      StringBuilder text = new StringBuilder();
      int kinds = random.nextBoolean() ? ALPHABET.length() : 2;
      for (int i = 0; i < length; i++) {
        text.append(ALPHABET.charAt(random.nextInt(kinds)));
      }
      return text.toString();
    }
  }
}
