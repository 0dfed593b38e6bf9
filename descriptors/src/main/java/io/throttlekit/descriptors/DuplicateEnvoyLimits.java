package io.throttlekit.descriptors;

import io.throttlekit.descriptors.ConcurrencyRule.AtEnvoys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Finds Envoy circuit breakers that two rules would set: one value follows one limit algorithm. */
final class DuplicateEnvoyLimits {
  private final Map<AtEnvoys, SourceLocation> steered = new HashMap<>();
  private final List<Finding> findings = new ArrayList<>();

  private DuplicateEnvoyLimits() {}

  /** Returns one finding for each rule but the first, in the order of the files. */
  static List<Finding> find(Map<String, List<DescriptorNode>> domains) {
    DuplicateEnvoyLimits twice = new DuplicateEnvoyLimits();
    domains.values().forEach(twice::inspect);
    return List.copyOf(twice.findings);
  }

  private void inspect(List<DescriptorNode> level) {
    for (DescriptorNode descriptor : level) {
      RuleSpec rule = descriptor.rule();
      ConcurrencyRule limit = rule == null ? null : rule.concurrency();
      if (rule != null && limit != null && limit.gate() instanceof AtEnvoys at) {
        SourceLocation first = steered.putIfAbsent(at, rule.location());
        if (first != null) {
          findings.add(
              new Finding(
                  rule.location(),
                  "the max_requests of cluster "
                      + Wording.quote(at.cluster())
                      + (at.highPriority() ? " for high priority" : "")
                      + " is steered by the rule at "
                      + first
                      + " already",
                  "remove one of them"));
        }
      }
      inspect(descriptor.children());
    }
  }
}
