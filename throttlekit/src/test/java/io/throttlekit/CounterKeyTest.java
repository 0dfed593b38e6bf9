package io.throttlekit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The identity of counters. */
class CounterKeyTest {

  @Test
  void isTheSameForTheSameScopeAndEntries() {
    CounterKey key = CounterKey.of("shop", "user", "ann");
    CounterKey same = CounterKey.of("shop", "user", new String("ann".toCharArray()));
    assertThat(key).isEqualTo(same).hasSameHashCodeAs(same).isEqualByComparingTo(same);
    assertThat(key).hasToString(same.toString());
  }

  @Test
  void keepsEntriesOfEqualJoinedTextApart() {
    CounterKey one = CounterKey.of("shop", "a_b", "c");
    CounterKey other = CounterKey.of("shop", "a", "b_c");
    assertThat(one).isNotEqualTo(other).isNotEqualByComparingTo(other);
    assertThat(one.toString()).isNotEqualTo(other.toString());
    assertThat(CounterKey.of("shop", "a", "")).isNotEqualTo(CounterKey.of("shop", "", "a"));
    assertThat(CounterKey.of("shop", "a")).isNotEqualTo(CounterKey.of("shopa"));
  }

  @Test
  void isOrderedByScopeThenByEntries() {
    CounterKey one = CounterKey.of("shop", "user", "Aa");
    CounterKey other = CounterKey.of("shop", "user", "BB");
    assertThat(one).isNotEqualTo(other).isLessThan(other);
    assertThat(CounterKey.of("a", "z")).isLessThan(CounterKey.of("b", "a"));
  }

  @Test
  void hashesDifferentEntriesDifferently() {
    Set<Long> low = new HashSet<>();
    Set<Long> high = new HashSet<>();
    for (int i = 0; i < 100_000; i++) {
      CounterKey key = CounterKey.of("shop", "user", Integer.toString(i));
      low.add(key.lowHash());
      high.add(key.highHash());
    }
    assertThat(low).hasSize(100_000);
    assertThat(high).hasSize(100_000);
  }

  @Test
  void keepsEveryTextApart() {
    List<String> texts =
        List.of(
            "",
            "a",
            "aa",
            "ü",
            "€",
            "a€",
            "\ud800",
            "\udc00",
            "\ud800\udc00",
            "?",
            "\0",
            "x".repeat(63),
            "x".repeat(64),
            "ü".repeat(64),
            "€".repeat(9_000),
            "x".repeat(9_000));
    Set<CounterKey> keys = new HashSet<>();
    Set<String> inWords = new HashSet<>();
    for (String first : texts) {
      for (String second : texts) {
        CounterKey key = CounterKey.of("s", first, second);
        String inFull = "s|" + first.length() + ':' + first + '|' + second.length() + ':' + second;
        if (first.length() + second.length() <= 62) { // even at two bytes per character
          assertThat(key).hasToString(inFull);
        }
        assertThat(key).isEqualTo(CounterKey.of("s", first, second));
        keys.add(key);
        inWords.add(key.toString());
      }
      keys.add(CounterKey.of("s", first));
    }
    assertThat(inWords).hasSize(texts.size() * texts.size());
    assertThat(keys).hasSize(texts.size() * (texts.size() + 1));
  }
}
