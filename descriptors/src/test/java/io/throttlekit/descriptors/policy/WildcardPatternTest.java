package io.throttlekit.descriptors.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WildcardPatternTest {

  @ParameterizedTest(name = "{0} describes {1}_{2}: {3}")
  @CsvSource({
    "k_foo*,        k,   foo,         true",
    "k_foo*,        k,   fo,          false",
    "k_*foo,        k,   xfoo,        true",
    "k_*foo,        k,   foox,        false",
    "k_bar*b,       k,   barb,        true",
    "k_bar*b,       k,   bar,         false",
    "k_a*a,         k,   a,           false",
    "k_a*a,         k,   aa,          true",
    "k_foo*bar*baz, k,   foo1bar2baz, true",
    "k_foo*bar*baz, k,   foobazbar,   false",
    "k_*ab*ab*,     k,   aab,         false",
    "k_*ab*ab*,     k,   aabxabb,     true",
    "k_**,          k,   '',          true",
    "k*v,           key, v,           true",
    "*,             '',  '',          true",
    "a_b*,          a,   b_c,         true",
    "a_b*,          a_b, c,           true",
  })
  void describesWholeTextsAcrossKeyAndValue(
      String pattern, String key, String value, boolean described) {
    assertThat(WildcardPattern.of(pattern).matches(key, value)).isEqualTo(described);
  }

  @Test
  void agreesWithTheReferenceOnRandomTextsOfSeed3() {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(3);
    int described = 0;
    for (int i = 0; i < 50_000; i++) {
      String pattern = text(random, "ab_**", 6) + '*' + text(random, "ab_**", 4);
      String key = text(random, "ab_", 3);
      String value = text(random, "ab_", 8);
      boolean expected = ReferenceMatcher.describes(pattern, key + '_' + value);
      assertThat(WildcardPattern.of(pattern).matches(key, value))
          .as("%s describes %s_%s", pattern, key, value)
          .isEqualTo(expected);
      described += expected ? 1 : 0;
    }
    assertThat(described).isBetween(5_000, 45_000);
  }

  @Test
  void hashesAndComparesLikeTheJoinedTextOfSeed4() {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(4);
    int equal = 0;
    for (int i = 0; i < 20_000; i++) {
      String key = text(random, "a_\uD83D\uDE00z", 40);
      String value = text(random, "b_é", 70);
      String joined = key + '_' + value;
      assertThat(Level.hashOf(key, value)).isEqualTo(joined.hashCode());
      assertThat(Level.isText(joined, key, value)).isTrue();
      String other = text(random, "_a", 3);
      String shortKey = text(random, "_a", 1);
      boolean same = Level.isText(other, shortKey, "a");
      assertThat(same).isEqualTo(other.equals(shortKey + "_a"));
      equal += same ? 1 : 0;
    }
    assertThat(equal).isGreaterThan(500);
  }

  private static String text(RandomGenerator random, String letters, int longest) {
    StringBuilder text = new StringBuilder();
    for (int left = random.nextInt(longest + 1); left > 0; left--) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }
    return text.toString();
  }
}
