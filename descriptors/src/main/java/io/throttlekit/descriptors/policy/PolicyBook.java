package io.throttlekit.descriptors.policy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Policies of all domains, loaded together. Immutable and thread-safe. */
public final class PolicyBook {

  /** Number of domains up to which a scan of the names is faster than a hash lookup. */
  private static final int FEW = 4;

  private final Map<String, Level> domains;
  private final String[] names;
  private final Level[] roots; // each of the domain whose name has the same index
  private final List<Rule> rules;
  private final Map<String, List<DescriptorNode>> descriptors;
  private final Map<String, Map<String, EntrySource>> sources;

  private PolicyBook(
      Map<String, Level> domains,
      List<Rule> rules,
      Map<String, List<DescriptorNode>> descriptors,
      Map<String, Map<String, EntrySource>> sources) {
    this.domains = domains;
    this.names = domains.keySet().toArray(String[]::new);
    this.roots = domains.values().toArray(Level[]::new);
    this.rules = List.copyOf(rules);
    this.descriptors = Map.copyOf(descriptors);
    this.sources = Map.copyOf(sources);
  }

  /**
   * Compiles these domains into a book that keeps their order.
   *
   * @throws IllegalArgumentException if two descriptors of one level have the same text
   */
  public static PolicyBook of(Map<String, List<DescriptorNode>> domains) {
    return of(domains, Map.of());
  }

  /**
   * Does the same for policies that name sources of entries.
   *
   * @param sources by domain and key
   */
  public static PolicyBook of(
      Map<String, List<DescriptorNode>> domains, Map<String, Map<String, EntrySource>> sources) {
    Map<String, Level> compiled = new LinkedHashMap<>();
    List<Rule> rules = new ArrayList<>();
    domains.forEach(
        (name, descriptors) -> compiled.put(name, compile(name, List.of(), descriptors, rules)));
    return new PolicyBook(compiled, rules, domains, sources);
  }

  /** Returns the descriptors at the root of a domain, or {@code null} when no file defines it. */
  public @Nullable Level domain(String name) {
    if (names.length > FEW) {
      return domains.get(name);
    }
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(name)) {
        return roots[i];
      }
    }
    return null;
  }

  /**
   * Returns every rule: by domain in the order of {@link #domains}, and within a domain in the
   * order of the files and of their lines.
   */
  public List<Rule> rules() {
    return rules;
  }

  /** Returns the names of all domains, in the order in which the files first define them. */
  public List<String> domains() {
    return List.of(names);
  }

  /** Returns the descriptors of a domain as written; empty when no file defines it. */
  public List<DescriptorNode> descriptors(String domain) {
    return descriptors.getOrDefault(domain, List.of());
  }

  /** Returns the sources of entries that the policies of a domain name, by key. */
  public Map<String, EntrySource> sources(String domain) {
    return sources.getOrDefault(domain, Map.of());
  }

  private static Level compile(
      String domain, List<EntryPattern> above, List<DescriptorNode> descriptors, List<Rule> rules) {
    if (descriptors.isEmpty()) {
      return Level.EMPTY;
    }
    List<CompiledDescriptor> level = new ArrayList<>();
    for (DescriptorNode descriptor : descriptors) {
      EntryPattern expects = EntryPattern.of(descriptor);
      List<EntryPattern> path = new ArrayList<>(above);
      path.add(expects);
      RuleSpec spec = descriptor.rule();
      Rule rule = spec == null ? null : Rule.of(domain, path, spec);
      if (rule != null) {
        rules.add(rule);
      }
      Level children = compile(domain, path, descriptor.children(), rules);
      if (spec == null || rule == null || spec.ownEntries().isEmpty()) {
        level.add(new CompiledDescriptor(expects, rule, children));
      } else {
        List<CompiledDescriptor> all = new ArrayList<>(children.inOrder());
        all.addAll(ownEntries(rule, spec.requiredEntry(), spec.ownEntries()));
        Rule reached = spec.requiredEntry() == null ? rule : null;
        level.add(new CompiledDescriptor(expects, reached, new Level(all)));
      }
    }
    return new Level(level);
  }

  /**
   * Returns descriptors that match more entries, each at most once, in any order and of any value.
   * They lead to the same rule.
   *
   * @param required entry without which the rule is not reached; null if there is none, or once it
   *     was found
   */
  private static List<CompiledDescriptor> ownEntries(
      Rule rule, @Nullable String required, List<String> entries) {
    List<CompiledDescriptor> level = new ArrayList<>();
    for (String entry : entries) {
      List<String> others = entries.stream().filter(other -> !other.equals(entry)).toList();
      String missing = entry.equals(required) ? null : required;
      List<CompiledDescriptor> next = ownEntries(rule, missing, others);
      EntryPattern any = EntryPattern.of(DescriptorNode.ofAny(rule.location(), entry));
      Rule reached = missing == null ? rule : null;
      Level children = next.isEmpty() ? Level.EMPTY : new Level(next);
      level.add(new CompiledDescriptor(any, reached, children, true));
    }
    return level;
  }
}
