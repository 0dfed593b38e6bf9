package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.lint.RuleLint;
import io.throttlekit.descriptors.lint.UnreachableRules;
import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.EntrySource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.PolicyTree;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import io.throttlekit.descriptors.source.YamlTree;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
    Map<String, Domain> domains = new LinkedHashMap<>();
    Map<String, Integer> order = new HashMap<>();
    for (PolicySource source : sources) {
      order.putIfAbsent(source.name(), order.size());
      YamlNode root = YamlTree.read(source, problems);
      if (root != null) {
        readDomain(new PolicyTree(source.name(), root), domains, problems);
      }
    }
    return load(domains, order, problems);
  }

  /** Loads trees that were made of another format than YAML, as {@link #load} does. */
  public LoadResult loadTrees(List<PolicyTree> trees) {
    Problems problems = new Problems();
    Map<String, Domain> domains = new LinkedHashMap<>();
    trees.forEach(tree -> readDomain(tree, domains, problems));
    return load(domains, Map.of(), problems);
  }

  private static LoadResult load(
      Map<String, Domain> domains, Map<String, Integer> order, Problems problems) {
    if (problems.hasErrors()) {
      return new LoadResult(null, problems.sorted(order));
    }
    Map<String, List<DescriptorNode>> levels = new LinkedHashMap<>();
    domains.forEach((name, domain) -> levels.put(name, domain.nodes()));
    warnOfDomainsWithoutRules(domains, problems);
    RuleLint.check(levels, problems);
    UnreachableRules.check(levels, problems);
    PolicyBook book = problems.hasErrors() ? null : PolicyBook.of(levels, sources(domains));
    return new LoadResult(book, problems.sorted(order));
  }

  private void readDomain(PolicyTree source, Map<String, Domain> domains, Problems problems) {
    YamlNode root = source.root();
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
    Fields fields = Fields.of(mapping, problems);
    if (isManifest(fields)) {
      problems.error(
          root.location(),
          "this is a manifest of Kubernetes, not a policy",
          hintForManifest(fields));
      return;
    }
    PolicySection file = new PolicySection(fields, "root", problems);
    String domain = file.required("domain");
    List<DescriptorNode> nodes = new DescriptorReader(options, problems, List.of()).readAll(file);
    Map<String, EntrySourceReader.Located> entries = EntrySourceReader.read(file);
    if (!domain.isEmpty()) {
      merge(domain, file.valueAt("domain"), nodes, domains, problems);
      mergeSources(entries, domains.get(domain), problems);
    }
  }

  private static String hintForManifest(Fields fields) {
    if ("ConfigMap".equals(text(fields, "kind"))) {
      return "in a ConfigMap, each value of `data` is a policy: write it into a file of its own";
    }
    return text(fields, "apiVersion").contains("gateway.envoyproxy.io/")
        ? "Envoy Gateway sends its limits over xDS, not in files: see docs/ENVOY-GATEWAY.md"
        : "begin with domain: NAME and descriptors:";
  }

  private static String text(Fields fields, String name) {
    Fields.Field field = fields.get(name);
    YamlNode.Scalar value = field == null ? null : field.scalar();
    return value == null ? "" : value.text();
  }

  private static boolean isManifest(Fields fields) {
    return fields.get("apiVersion") != null
        && fields.get("kind") != null
        && fields.get("domain") == null;
  }

  /** Merges a source into the domains of the sources before it. */
  private void merge(
      String name,
      SourceLocation location,
      List<DescriptorNode> nodes,
      Map<String, Domain> domains,
      Problems problems) {
    Domain known = domains.get(name);
    if (known != null && !options.mergeDomains()) {
      problems.error(
          location,
          "the domain " + Wording.quote(name) + " is already defined at " + known.location(),
          "put both into one file, or set " + options.mergeSwitch());
      return;
    }
    Domain domain =
        known == null
            ? new Domain(location, new ArrayList<>(), new HashMap<>(), new LinkedHashMap<>())
            : known;
    domains.put(name, domain);
    // Against earlier sources only: descriptors of one source were compared when it was read.
    nodes.forEach(
        node -> DescriptorReader.checkUnique(node, domain.level().get(node.composite()), problems));
    nodes.forEach(node -> domain.level().putIfAbsent(node.composite(), node));
    domain.nodes().addAll(nodes);
  }

  private static Map<String, Map<String, EntrySource>> sources(Map<String, Domain> domains) {
    Map<String, Map<String, EntrySource>> sources = new HashMap<>();
    domains.forEach((name, domain) -> {
      Map<String, EntrySource> byKey = new LinkedHashMap<>();
      domain.sources().forEach((key, entry) -> byKey.put(key, entry.source()));
      sources.put(name, Collections.unmodifiableMap(byKey));
    });
    return sources;
  }

  private static void mergeSources(
      Map<String, EntrySourceReader.Located> entries, @Nullable Domain domain, Problems problems) {
    if (domain == null) {
      return;
    }
    entries.forEach((key, entry) -> {
      EntrySourceReader.Located first = domain.sources().putIfAbsent(key, entry);
      if (first != null && !first.source().equals(entry.source())) {
        problems.error(
            entry.location(),
            "the entry " + Wording.quote(key) + " has another source at " + first.location(),
            "write the same in both, or remove one");
      }
    });
  }

  /** Warns of each domain that limits nothing, which is rarely intended. */
  private static void warnOfDomainsWithoutRules(Map<String, Domain> domains, Problems problems) {
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

  private record Domain(
      SourceLocation location,
      List<DescriptorNode> nodes,
      Map<String, DescriptorNode> level,
      Map<String, EntrySourceReader.Located> sources) {}
}
