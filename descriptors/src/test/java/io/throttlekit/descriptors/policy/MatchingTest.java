package io.throttlekit.descriptors.policy;

import static io.throttlekit.descriptors.policy.Descriptors.book;
import static io.throttlekit.descriptors.policy.Descriptors.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MatchingTest {

  @Test
  void prefersTheExactTextThenTheFirstWildcardThenTheDefault() {
    PolicyBook book =
        book(
            "d",
            key("user").limit(1).of(),
            key("user").value("*z").limit(2).of(),
            key("user").value("b*").limit(3).of(),
            key("user").value("bob").limit(4).of());

    assertThat(limit(book, "user", "bob")).isEqualTo(4);
    assertThat(limit(book, "user", "bz")).isEqualTo(2);
    assertThat(limit(book, "user", "b")).isEqualTo(3);
    assertThat(limit(book, "user", "eve")).isEqualTo(1);
    assertThat(limit(book, "user", "")).isEqualTo(1);
    assertThat(limit(book, "User", "bob")).isEqualTo(NONE);
  }

  @Test
  void takesTheLimitOnlyFromTheLastEntry() {
    PolicyBook book = book("d", key("a").limit(1).of(key("b").limit(2).of(key("c").of())));

    assertThat(limit(book, "a", "1")).isEqualTo(1);
    assertThat(limit(book, "a", "1", "b", "2")).isEqualTo(2);
    assertThat(limit(book, "a", "1", "b", "2", "c", "3")).isEqualTo(NONE);
    assertThat(limit(book, "a", "1", "b", "2", "c", "3", "d", "4")).isEqualTo(NONE);
    assertThat(limit(book, "a", "1", "x", "2")).isEqualTo(NONE);
    assertThat(limit(book, "b", "2", "a", "1")).isEqualTo(NONE);
    assertThat(limit(book)).isEqualTo(NONE);
  }

  @Test
  void doesNotBacktrackToTheDefaultFromAnExactBranch() {
    PolicyBook book =
        book(
            "d",
            key("user").of(key("path").limit(1).of()),
            key("user").value("bob").of(key("method").limit(2).of()));

    assertThat(limit(book, "user", "eve", "path", "/")).isEqualTo(1);
    assertThat(limit(book, "user", "bob", "path", "/")).isEqualTo(NONE);
  }

  @Test
  void hidesTheDefaultBehindAValueWithoutLimit() {
    PolicyBook book = book("d", key("user").limit(1).of(), key("user").value("ops").of());

    assertThat(limit(book, "user", "ops")).isEqualTo(NONE);
  }

  @Test
  void comparesTextsSoThatUnderscoresJoinKeyAndValue() {
    PolicyBook book = book("d", key("a_b").limit(1).of(), key("c").value("d_e").limit(2).of());

    assertThat(limit(book, "a", "b")).isEqualTo(1);
    assertThat(limit(book, "a_b", "x")).isEqualTo(1);
    assertThat(limit(book, "c_d", "e")).isEqualTo(2);
    assertThat(limit(book, "c_d_e", "x")).as("default of the text").isEqualTo(2);
    assertThat(limit(book, "ab", "")).isEqualTo(NONE);
  }

  @Test
  void findsTextsOfEqualHash() {
    assertThat("a_Aa".hashCode()).isEqualTo("a_BB".hashCode());
    PolicyBook book = book("d", key("a").value("Aa").limit(1).of(), key("a").limit(3).of());
    PolicyBook both =
        book("d", key("a").value("BB").limit(2).of(), key("a").value("Aa").limit(1).of());

    assertThat(limit(book, "a", "BB")).isEqualTo(3);
    assertThat(limit(both, "a", "BB")).isEqualTo(2);
    assertThat(limit(both, "a", "Aa")).isEqualTo(1);
  }

  @Test
  void refusesTwoDescriptorsOfOneText() {
    assertThatThrownBy(() -> book("d", key("a_b").line(3).of(), key("a").value("b").line(7).of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("shop.yaml:7:5: the text a_b is taken by the descriptor at shop.yaml:3:5");
  }

  @Test
  void findsOnlyItsDomainsAndListsRulesInOrder() {
    PolicyBook book =
        book("d", key("a").limit(1).of(key("b").unlimited().of()), key("c").limit(2).of());

    assertThat(book.domain("D")).isNull();
    assertThat(book.domains()).containsExactly("d");
    assertThat(book.rules()).extracting(Rule::path).isEqualTo(List.of("a", "a.b", "c"));
    assertThat(PolicyBook.of(Map.of()).domains()).isEmpty();
    assertThat(PolicyBook.of(Map.of()).domain("d")).isNull();
  }

  private static final long NONE = -1;

  private static long limit(PolicyBook book, String... entries) {
    Rule rule = Descriptors.match(book, entries);
    return rule == null ? NONE : rule.limits().getFirst().requestsPerUnit();
  }
}
