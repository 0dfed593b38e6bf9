package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.lint.RuleLint;
import io.throttlekit.descriptors.lint.UnreachableRules;
import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.yaml.Fields;
import io.throttlekit.descriptors.yaml.YamlNode;
import io.throttlekit.descriptors.yaml.YamlTree;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Turns policy files into a {@link PolicyBook}, or reports all errors in all of them.
 *
 * <p>Accepts every file that envoyproxy/ratelimit accepts. Malformed, hostile or huge input gives
 * errors, never an exception. Immutable and thread-safe; reads only its argument.
 */
public final class PolicyLoader {
  private final LoadOptions options;

  /** Creates a loader that always applies {@code options}. */
  public PolicyLoader(LoadOptions options) {
    this.options = options;
  }

  /**
   * Loads all sources together. The wildcards of a merged domain are tried in the order of {@code
   * sources}.
   */
  public LoadResult load(List<PolicySource> sources) {
    Problems problems = new Problems();
    DomainMerge merge = new DomainMerge(options, problems);
    Map<String, Integer> order = new HashMap<>();
    for (PolicySource source : sources) {
      order.putIfAbsent(source.name(), order.size());
      YamlNode root = YamlTree.read(source, problems);
      if (root != null) {
        readDomain(source, root, merge, problems);
      }
    }
    if (problems.hasErrors()) {
      return new LoadResult(null, problems.sorted(order));
    }
    Map<String, List<DescriptorNode>> domains = merge.domains();
    merge.warnOfDomainsWithoutRules();
    RuleLint.check(domains, problems);
    UnreachableRules.check(domains, problems);
    PolicyBook book = problems.hasErrors() ? null : PolicyBook.of(domains);
    return new LoadResult(book, problems.sorted(order));
  }

  private void readDomain(
      PolicySource source, YamlNode root, DomainMerge merge, Problems problems) {
    if (root instanceof YamlNode.Unreadable) {
      return;
    }
    if (!(root instanceof YamlNode.Mapping mapping)) {
      boolean empty = root.isNull();
      problems.error(
          empty ? new SourceLocation(source.name(), 1, 1) : root.location(),
          empty
              ? "the file is empty"
              : "a policy file is a mapping, but here is " + root.describe(),
          "begin with domain: NAME and descriptors:");
      return;
    }
    PolicySection file = new PolicySection(Fields.of(mapping, problems), "root", problems);
    String domain = file.required("domain");
    List<DescriptorNode> nodes = new DescriptorReader(options, problems).readAll(file);
    if (!domain.isEmpty()) {
      merge.add(domain, file.valueAt("domain"), nodes);
    }
  }
}
