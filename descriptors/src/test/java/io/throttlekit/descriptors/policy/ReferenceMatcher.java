package io.throttlekit.descriptors.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The matching rules of the policy language, written for reading and independent of the real
 * matcher: texts are built, patterns are tried letter by letter, levels are maps. Tests compare the
 * real matcher with it.
 */
public final class ReferenceMatcher {
  private ReferenceMatcher() {}

  /** Result of one entry. */
  public enum Branch {
    /** The text of the entry is a descriptor's. */
    EXACT,
    /** The first wildcard that matches the text. */
    WILDCARD,
    /** The key is a descriptor's. */
    DEFAULT,
    /** No descriptor: the walk ends. */
    DEAD_END
  }

  /**
   * The end of a walk.
   *
   * @param branches the result of each entry, as far as the walk went
   * @param ruleName name of the rule that decides, or {@code null} when nothing limits the request
   * @param rule that rule, or {@code null}
   * @param whitelisted whether every entry was found and the last descriptor states no limit
   * @param chargedEntries entries that the counters are kept under; empty without a rule
   * @param metricKeys keys of its statistics; empty without a rule
   * @param tenant the tenant, if the rule divides its limits
   */
  public record Walk(
      List<Branch> branches,
      @Nullable String ruleName,
      @Nullable ReferenceRule rule,
      boolean whitelisted,
      List<String> chargedEntries,
      List<String> metricKeys,
      @Nullable Tenant tenant) {

    static Walk withoutRule(List<Branch> branches, boolean whitelisted) {
      return new Walk(branches, null, null, whitelisted, List.of(), List.of(), null);
    }
  }

  /** A tenant and its weight. */
  public record Tenant(String name, FairShare.Weight weight) {}

  /**
   * Walks the policy with the entries of one descriptor.
   *
   * @param entries key, value, key, value …
   */
  public static Walk match(RandomPolicies.Policy policy, String... entries) {
    return match(policy.descriptors(), entries);
  }

  public static Walk match(List<DescriptorNode> descriptors, String... entries) {
    List<Branch> branches = new ArrayList<>();
    List<DescriptorNode> path = new ArrayList<>();
    List<DescriptorNode> level = descriptors;
    for (int i = 0; i < entries.length; i += 2) {
      Map<String, DescriptorNode> byText = new LinkedHashMap<>();
      for (DescriptorNode descriptor : level) {
        byText.put(text(descriptor), descriptor);
      }
      String keyAndValue = entries[i] + "_" + entries[i + 1];
      Branch branch = Branch.EXACT;
      DescriptorNode found = byText.get(keyAndValue);
      if (found == null) {
        branch = Branch.WILDCARD;
        found = firstWildcard(byText, keyAndValue);
      }
      if (found == null) {
        branch = Branch.DEFAULT;
        found = byText.get(entries[i]);
      }
      if (found == null) {
        Map<String, String> own =
            ownEntries(path, Arrays.asList(entries).subList(i, entries.length));
        if (!own.isEmpty()) {
          return ofTenant(path, branches, own, entries);
        }
        branches.add(Branch.DEAD_END);
        return Walk.withoutRule(branches, false);
      }
      branches.add(branch);
      path.add(found);
      level = found.children();
    }
    RuleSpec rule = path.isEmpty() ? null : path.getLast().rule();
    return rule == null || rule.fairShare() != null // which needs a tenant
        ? Walk.withoutRule(branches, !path.isEmpty())
        : new Walk(
            branches,
            rule.name(),
            ReferenceRule.of(rule),
            false,
            charged(path, branches, entries),
            metricKeys(path, branches, entries),
            null);
  }

  /** Returns the rest of the entries if each one only names something for the last rule, once. */
  private static Map<String, String> ownEntries(List<DescriptorNode> path, List<String> rest) {
    RuleSpec rule = path.isEmpty() ? null : path.getLast().rule();
    Map<String, String> own = new LinkedHashMap<>();
    for (int i = 0; i < rest.size(); i += 2) {
      boolean names = rule != null && rule.ownEntries().contains(rest.get(i));
      if (!names || own.putIfAbsent(rest.get(i), rest.get(i + 1)) != null) {
        return Map.of();
      }
    }
    return own;
  }

  private static Walk ofTenant(
      List<DescriptorNode> path, List<Branch> branches, Map<String, String> own, String[] entries) {
    RuleSpec rule = Objects.requireNonNull(path.getLast().rule());
    FairShare share = Objects.requireNonNull(rule.fairShare());
    String name = own.get(share.tenantEntry());
    if (name == null) {
      return Walk.withoutRule(branches, true);
    }
    String selector = share.weightEntry() == null ? name : own.get(share.weightEntry());
    FairShare.Weight listed = selector == null ? null : share.weights().get(selector);
    return new Walk(
        branches,
        rule.name(),
        ReferenceRule.of(rule),
        false,
        charged(path, branches, entries),
        metricKeys(path, branches, entries),
        new Tenant(name, listed == null ? share.defaultWeight() : listed));
  }

  private static @Nullable DescriptorNode firstWildcard(
      Map<String, DescriptorNode> byText, String keyAndValue) {
    for (Map.Entry<String, DescriptorNode> candidate : byText.entrySet()) {
      if (candidate.getKey().contains("*") && describes(candidate.getKey(), keyAndValue)) {
        return candidate.getValue();
      }
    }
    return null;
  }

  public static boolean describes(String pattern, String text) {
    if (pattern.isEmpty()) {
      return text.isEmpty();
    }
    String rest = pattern.substring(1);
    if (pattern.startsWith("*")) {
      return describes(rest, text) || (!text.isEmpty() && describes(pattern, text.substring(1)));
    }
    return text.startsWith(pattern.substring(0, 1)) && describes(rest, text.substring(1));
  }

  private static List<String> charged(
      List<DescriptorNode> path, List<Branch> branches, String[] entries) {
    List<String> charged = new ArrayList<>();
    for (int i = 0; i < path.size(); i++) {
      String key = entries[2 * i];
      String pattern = text(path.get(i));
      boolean shared = path.get(i).shareThreshold() && branches.get(i) == Branch.WILDCARD;
      String withoutKey =
          pattern.startsWith(key + "_") ? pattern.substring(key.length() + 1) : pattern;
      charged.add(key);
      charged.add(shared ? withoutKey : entries[2 * i + 1]);
    }
    return charged;
  }

  private static List<String> metricKeys(
      List<DescriptorNode> path, List<Branch> branches, String[] entries) {
    List<String> keys = new ArrayList<>();
    boolean detailed = path.getLast().detailedMetric();
    for (int i = 0; i < path.size(); i++) {
      DescriptorNode descriptor = path.get(i);
      String key = entries[2 * i];
      String value = entries[2 * i + 1];
      Branch branch = branches.get(i);
      if (branch == Branch.WILDCARD && descriptor.shareThreshold()) {
        keys.add(text(descriptor));
      } else if (detailed || branch == Branch.EXACT) {
        keys.add(key + "_" + value);
      } else if (descriptor.valueToMetric() && !value.isEmpty()) {
        keys.add(key + "_" + value);
      } else {
        keys.add(branch == Branch.WILDCARD ? text(descriptor) : key);
      }
    }
    return keys;
  }

  private static String text(DescriptorNode descriptor) {
    return descriptor.value().isEmpty()
        ? descriptor.key()
        : descriptor.key() + "_" + descriptor.value();
  }
}
