package io.throttlekit.descriptors;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Finds names in {@code replaces} that replace nothing: no rule of the domain has the name, or only
 * unlimited ones, which cannot be replaced. A request has one domain, so rules of other domains do
 * not count.
 */
final class ReplacedNames {
  private static final long MAX_COMPARED = 100_000; // names: a few tenths of a second

  private final List<Finding> findings = new ArrayList<>();
  private long compared;

  private ReplacedNames() {}

  /** Returns one finding per name and place, in the order of the files. */
  static List<Finding> find(Map<String, List<DescriptorNode>> domains) {
    ReplacedNames names = new ReplacedNames();
    domains.forEach(names::inspect);
    return List.copyOf(names.findings);
  }

  private void inspect(String domain, List<DescriptorNode> descriptors) {
    Map<String, Boolean> limitedByName = new HashMap<>();
    forEachRule(
        descriptors,
        rule -> limitedByName.merge(rule.name(), !rule.unlimited(), Boolean::logicalOr));
    limitedByName.remove(""); // the text of rules without a name
    forEachRule(
        descriptors,
        rule -> {
          for (RuleSpec.Replacement replaced : rule.replaces()) {
            Boolean limited = limitedByName.get(replaced.name());
            if (limited == null) {
              findings.add(unknown(domain, replaced, limitedByName));
            } else if (!limited) {
              findings.add(
                  new Finding(
                      replaced.location(),
                      "`replaces` has no effect on "
                          + Wording.quote(replaced.name())
                          + ": an unlimited rule cannot be replaced",
                      "remove it"));
            }
          }
        });
  }

  private Finding unknown(
      String domain, RuleSpec.Replacement replaced, Map<String, Boolean> names) {
    compared += names.size();
    String near = compared > MAX_COMPARED ? null : Wording.nearest(replaced.name(), names.keySet());
    return new Finding(
        replaced.location(),
        "`replaces` names "
            + Wording.quote(replaced.name())
            + ", but no rule of the domain "
            + Wording.quote(domain)
            + " has that name: it replaces nothing",
        near == null ? "give the rule that is meant this name" : "did you mean " + near + "?");
  }

  private static void forEachRule(List<DescriptorNode> level, Consumer<RuleSpec> action) {
    for (DescriptorNode descriptor : level) {
      if (descriptor.rule() != null) {
        action.accept(descriptor.rule());
      }
      forEachRule(descriptor.children(), action);
    }
  }
}
