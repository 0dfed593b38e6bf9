package io.throttlekit.descriptors.lint;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtService;
import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.RuleSpec;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reports rules that refer to each other in vain, or that conflict:
 *
 * <ul>
 *   <li>names in {@code replaces} that replace nothing: no rule of the domain has the name, or only
 *       unlimited ones, which cannot be replaced. A request has one domain, so rules of other
 *       domains do not count;
 *   <li>Envoy circuit breakers that two rules would set, an error: one value follows one limit
 *       algorithm;
 *   <li>prioritizers that only one rule of its domain names, and so shares with none.
 * </ul>
 */
public final class RuleLint {
  private static final long MAX_COMPARED = 100_000; // names: a few tenths of a second

  private final Problems problems;
  private final Map<AtEnvoys, SourceLocation> pushed = new HashMap<>();
  private final Map<String, List<RuleSpec>> prioritizers = new HashMap<>();
  private long compared;

  private RuleLint(Problems problems) {
    this.problems = problems;
  }

  /** Reports on the rules of all domains. */
  public static void check(Map<String, List<DescriptorNode>> domains, Problems problems) {
    RuleLint lint = new RuleLint(problems);
    domains.forEach((domain, level) -> {
      List<RuleSpec> rules = DescriptorNode.rules(level).toList();
      lint.checkReplacedNames(domain, rules);
      rules.forEach(lint::collect);
      lint.checkPrioritizers();
    });
  }

  private void checkReplacedNames(String domain, List<RuleSpec> rules) {
    Map<String, Boolean> limitedByName = new HashMap<>();
    for (RuleSpec rule : rules) {
      limitedByName.merge(rule.name(), !rule.unlimited(), Boolean::logicalOr);
    }
    limitedByName.remove(""); // the text of rules without a name
    for (RuleSpec rule : rules) {
      for (RuleSpec.Replacement replaced : rule.replaces()) {
        Boolean limited = limitedByName.get(replaced.name());
        if (limited == null) {
          warnOfUnknown(domain, replaced, limitedByName);
        } else if (!limited) {
          problems.warning(
              replaced.location(),
              "`replaces` has no effect on %s: an unlimited rule cannot be replaced"
                  .formatted(Wording.quote(replaced.name())),
              "remove it");
        }
      }
    }
  }

  private void warnOfUnknown(
      String domain, RuleSpec.Replacement replaced, Map<String, Boolean> names) {
    compared += names.size();
    Set<String> near = compared > MAX_COMPARED ? Set.of() : names.keySet();
    problems.warning(
        replaced.location(),
        "`replaces` names %s, but no rule of the domain %s has that name: it replaces nothing"
            .formatted(Wording.quote(replaced.name()), Wording.quote(domain)),
        Wording.suggest(replaced.name(), near, "give the rule that is meant this name"));
  }

  private void collect(RuleSpec rule) {
    switch (rule.concurrency() == null ? null : rule.concurrency().gate()) {
      case AtEnvoys at -> {
        SourceLocation first = pushed.putIfAbsent(at, rule.location());
        if (first != null) {
          problems.error(
              rule.location(),
              "the max_requests of cluster %s%s is set by the rule at %s already"
                  .formatted(
                      Wording.quote(at.cluster()),
                      at.highPriority() ? " for high priority" : "",
                      first),
              "remove one of them");
        }
      }
      case AtService at when at.prioritizer() != null ->
          prioritizers.computeIfAbsent(at.prioritizer(), name -> new ArrayList<>()).add(rule);
      case null, default -> {}
    }
  }

  /** Checks those of one domain, because domains do not share them. */
  private void checkPrioritizers() {
    prioritizers.forEach((name, rules) -> {
      if (rules.size() == 1) {
        List<String> others =
            prioritizers.keySet().stream().filter(other -> !other.equals(name)).toList();
        problems.warning(
            rules.getFirst().location(),
            "no other rule of the domain names the prioritizer "
                + Wording.quote(name)
                + ": it is shared by none",
            Wording.suggest(name, others, "name it in another rule, or remove it"));
      }
    });
    prioritizers.clear();
  }
}
