package io.throttlekit.demo;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.PolicyFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** The demo's policy as the service reads it, to find the rule of a request. Immutable. */
final class DemoPolicy {
  private final PolicyBook book;

  private DemoPolicy(PolicyBook book) {
    this.book = book;
  }

  static DemoPolicy read(Path file) throws IOException {
    var loaded =
        new PolicyLoader(new LoadOptions(false)).load(PolicyFiles.read(List.of(file)).whole());
    if (loaded.book() == null) {
      throw new IOException(loaded.problems().toString());
    }
    return new DemoPolicy(loaded.book());
  }

  /** Returns the rules that {@code mix} matches, in the order of the mix. */
  List<String> rules(List<DemoRequest> mix) {
    return mix.stream().map(this::ruleOf).distinct().toList();
  }

  /** Returns the path and limit of the rule, as in {@code user 5 per second}. */
  String ruleOf(DemoRequest request) {
    Rule rule =
        Objects.requireNonNull(book.domain("demo"))
            .match(request.descriptor().toArray(String[]::new));
    return rule == null ? "(no rule)" : "%-18s %s".formatted(rule.path(), limit(rule));
  }

  private static String limit(Rule rule) {
    Limit limit = rule.limits().getFirst();
    LimitUnit unit = limit.unit();
    String window =
        unit != null ? unit.name().toLowerCase(Locale.ROOT) : limit.windowMillis() / 1000 + " s";
    return limit.requestsPerUnit() + " per " + window;
  }
}
