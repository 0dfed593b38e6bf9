package io.throttlekit.service.telemetry;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.PolicySource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Policy books from YAML, and a place to replace them. */
public final class Policies {
  private volatile @Nullable PolicyBook book;

  /** Creates policies with {@code yaml} in effect. */
  public static Policies of(String yaml) {
    Policies policies = new Policies();
    policies.swap(yaml);
    return policies;
  }

  /** Loads {@code yaml} and puts it into effect. */
  public void swap(String yaml) {
    LoadResult result =
        new PolicyLoader(new LoadOptions(false)).load(List.of(new PolicySource("test.yaml", yaml)));
    if (result.book() == null) {
      throw new AssertionError(result.problems());
    }
    book = result.book();
  }

  /** Returns the book in effect. */
  public @Nullable PolicyBook book() {
    return book;
  }

  Rule match(String domain, String... entries) {
    PolicyBook current = Objects.requireNonNull(book, "no policies");
    Rule rule = Objects.requireNonNull(current.domain(domain), "no such domain").match(entries);
    if (rule == null) {
      throw new AssertionError("no rule in " + domain);
    }
    return rule;
  }
}
