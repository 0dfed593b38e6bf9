package io.throttlekit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which counters are one. */
class CounterKeyTest {

  @Test
  void isTheSameForTheSameScopeAndEntries() {
    CounterKey key = CounterKey.of("shop", "user", "ann");
    CounterKey same = CounterKey.of("shop", "user", new String("ann".toCharArray()));
    assertThat(key).isEqualTo(same).hasSameHashCodeAs(same).isEqualByComparingTo(same);
    assertThat(key).hasToString(same.toString());
  }

  @Test
  void keepsEntriesApartThatReadTheSameWhenJoined() {
    CounterKey one = CounterKey.of("shop", "a_b", "c");
    CounterKey other = CounterKey.of("shop", "a", "b_c");
    assertThat(one).isNotEqualTo(other).isNotEqualByComparingTo(other);
    assertThat(one.toString()).isNotEqualTo(other.toString());
    assertThat(CounterKey.of("shop", "a", "")).isNotEqualTo(CounterKey.of("shop", "", "a"));
    assertThat(CounterKey.of("shop", "a")).isNotEqualTo(CounterKey.of("shopa"));
  }

  @Test
  void isOrderedAlsoWhereHashCodesAreEqual() {
    CounterKey one = CounterKey.of("shop", "user", "Aa");
    CounterKey other = CounterKey.of("shop", "user", "BB");
    assertThat(one).hasSameHashCodeAs(other).isNotEqualTo(other).isLessThan(other);
    assertThat(CounterKey.of("a", "z")).isLessThan(CounterKey.of("b", "a"));
  }
}
