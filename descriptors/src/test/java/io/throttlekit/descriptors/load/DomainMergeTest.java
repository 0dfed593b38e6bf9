package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Problem;
import org.junit.jupiter.api.Test;

class DomainMergeTest {
  private static final String LIMIT = "    rate_limit: {unit: minute, requests_per_unit: 5}\n";

  @Test
  void mergesTheDescriptorsOfADomainInTheOrderOfTheSources() {
    PolicyBook book =
        Loading.book(domain("d", "a*"), domain("e", "x"), domain("d", "ab*"), domain("d", "exact"));

    assertThat(book.domains()).containsExactly("d", "e");
    assertThat(book.rules())
        .extracting(Rule::path)
        .containsExactly("k_a*", "k_ab*", "k_exact", "k_x");
    assertThat(Loading.match(book, "k", "abc")).isSameAs(book.rules().getFirst());
  }

  @Test
  void namesBothPlacesOfADescriptorThatTwoSourcesDefine() {
    assertThat(problems(domain("d", "v"), domain("d", "v")))
        .containsExactly(
            "b.yaml:3:5: error: the descriptor `k_v` is already defined at a.yaml:3:5"
                + " (put both into one, or change a key or a value)");
  }

  @Test
  void refusesADomainOfTwoSourcesUnlessMergingIsOn() {
    LoadResult result =
        new PolicyLoader(new LoadOptions(false, "THE_SWITCH=true", true, true, true, false))
            .load(Loading.sources(domain("d", "v"), domain("d", "w")));

    assertThat(result.book()).isNull();
    assertThat(result.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "b.yaml:1:9: error: the domain `d` is already defined at a.yaml:1:9"
                + " (put both into one file, or set THE_SWITCH=true)");
  }

  @Test
  void namesDuplicatesOfASourceWhoseDomainIsRefused() {
    String twice = "domain: d\ndescriptors:\n  - key: w\n" + LIMIT + "  - key: w\n" + LIMIT;
    LoadResult result =
        new PolicyLoader(new LoadOptions(false)).load(Loading.sources(domain("d", "v"), twice));

    assertThat(result.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "b.yaml:1:9: error: the domain `d` is already defined at a.yaml:1:9"
                + " (put both into one file, or set policies.merge_domains: true)",
            "b.yaml:5:5: error: the descriptor `w` is already defined at b.yaml:3:5"
                + " (put both into one, or change a key or a value)");
    assertThat(problems(twice))
        .singleElement()
        .asString()
        .startsWith("a.yaml:5:5: error: the descriptor `w` is already defined at a.yaml:3:5");
  }

  private static String domain(String name, String value) {
    return "domain: " + name + "\ndescriptors:\n  - key: k\n    value: \"" + value + "\"\n" + LIMIT;
  }
}
