package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.Level;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Loads policies from texts of tests. */
public final class Loading {
  private Loading() {}

  /** Loads sources named a.yaml, b.yaml … with domains merged. */
  public static LoadResult merged(String... texts) {
    return new PolicyLoader(new LoadOptions(true)).load(sources(texts));
  }

  /** Returns the only rule of the only domain of a policy that must load. */
  public static Rule onlyRule(String text) {
    List<Rule> rules = book(text).rules();
    assertThat(rules).hasSize(1);
    return rules.getFirst();
  }

  /** Returns the book of a policy that must load. */
  public static PolicyBook book(String... texts) {
    LoadResult result = merged(texts);
    assertThat(result.problems()).noneMatch(problem -> problem.severity() == Severity.ERROR);
    return Objects.requireNonNull(result.book());
  }

  /** Returns the rule that one entry matches in the domain {@code d}. */
  public static @Nullable Rule match(PolicyBook book, String key, String value) {
    Level domain = Objects.requireNonNull(book.domain("d"));
    return domain.match(new String[] {key, value});
  }

  /** Returns the problems of a load as texts. */
  public static List<String> problems(String... texts) {
    return merged(texts).problems().stream().map(Problem::toString).toList();
  }

  public static List<PolicySource> sources(String... texts) {
    List<PolicySource> sources = new ArrayList<>();
    for (String text : texts) {
      sources.add(new PolicySource((char) ('a' + sources.size()) + ".yaml", text));
    }
    return sources;
  }
}
