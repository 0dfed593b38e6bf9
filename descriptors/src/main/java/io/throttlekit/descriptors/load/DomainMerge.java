package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Merges the domains of all sources, in the order of the sources. */
final class DomainMerge {
  private final LoadOptions options;
  private final Problems problems;
  private final Map<String, Domain> domains = new LinkedHashMap<>();

  DomainMerge(LoadOptions options, Problems problems) {
    this.options = options;
    this.problems = problems;
  }

  private record Domain(
      SourceLocation location, List<DescriptorNode> nodes, Map<String, DescriptorNode> level) {}

  void add(String name, SourceLocation location, List<DescriptorNode> nodes) {
    Domain known = domains.get(name);
    if (known != null && !options.mergeDomains()) {
      problems.error(
          location,
          "the domain " + Wording.quote(name) + " is already defined at " + known.location(),
          "put both into one file, or set " + options.mergeSwitch());
      return;
    }
    Domain domain =
        known == null ? new Domain(location, new ArrayList<>(), new HashMap<>()) : known;
    domains.put(name, domain);
    // Against earlier sources only: descriptors of one source were compared when it was read.
    nodes.forEach(
        node -> DescriptorReader.checkUnique(node, domain.level().get(node.composite()), problems));
    nodes.forEach(node -> domain.level().putIfAbsent(node.composite(), node));
    domain.nodes().addAll(nodes);
  }

  /** Warns of each domain that limits nothing, which is rarely intended. */
  void warnOfDomainsWithoutRules() {
    domains.forEach((name, domain) -> {
      if (DescriptorNode.rules(domain.nodes()).findAny().isEmpty()) {
        String what = domain.nodes().isEmpty() ? "descriptors" : "rate_limit";
        problems.warning(
            domain.location(),
            "domain " + Wording.quote(name) + " has no " + what + ": nothing is limited",
            "");
      }
    });
  }

  Map<String, List<DescriptorNode>> domains() {
    Map<String, List<DescriptorNode>> merged = new LinkedHashMap<>();
    domains.forEach((name, domain) -> merged.put(name, domain.nodes()));
    return merged;
  }
}
