package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.lint.ClientWildcards;
import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.RuleSpec;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads descriptors and the descriptors nested in them.
 *
 * @param path keys of the descriptors above, from the root of the domain
 */
record DescriptorReader(LoadOptions options, Problems problems, List<String> path) {
  /** Values of a priority entry; the numeric levels are represented by {@code 0}. */
  private static final List<String> PRIORITIES =
      List.of("very_low", "low", "medium", "high", "very_high", "0");

  /**
   * Reads the field {@code descriptors} of {@code parent}. Leaves out descriptors without a key,
   * and reports those with equal texts.
   */
  List<DescriptorNode> readAll(PolicySection parent) {
    List<DescriptorNode> nodes = new ArrayList<>();
    Map<String, DescriptorNode> level = new HashMap<>();
    for (YamlNode.Mapping mapping : parent.mappings("descriptors")) {
      DescriptorNode node = read(Fields.of(mapping, problems));
      if (!node.key().isEmpty()) {
        checkUnique(node, level.putIfAbsent(node.composite(), node), problems);
        nodes.add(node);
      }
    }
    return nodes;
  }

  /** Reports {@code node} when {@code first}, another of its level, has the same text. */
  static void checkUnique(DescriptorNode node, @Nullable DescriptorNode first, Problems problems) {
    if (first == null) {
      return;
    }
    String text = "the descriptor " + Wording.quote(node.composite());
    boolean sameKey = first.key().equals(node.key());
    problems.error(
        node.location(),
        text
            + (sameKey ? " is already defined at " : " has the same text as the one at ")
            + first.location(),
        sameKey
            ? "put both into one, or change a key or a value"
            : "key and value are joined by _, and both give the same text: rename a key");
  }

  private DescriptorNode read(Fields fields) {
    PolicySection descriptor = new PolicySection(fields, placeOf(fields), problems);
    boolean shareThreshold = descriptor.flag("share_threshold");
    String key = descriptor.required("key");
    List<String> keys = new ArrayList<>(path);
    keys.add(key);
    DescriptorNode node =
        new DescriptorNode(
            fields.location(),
            key,
            descriptor.text("value"),
            shareThreshold,
            descriptor.flag("value_to_metric"),
            descriptor.flag("detailed_metric"),
            new RuleReader(options, problems, keys).read(descriptor),
            new DescriptorReader(options, problems, keys).readAll(descriptor));
    if (shareThreshold && !node.wildcard() && !descriptor.mayMean("value")) {
      descriptor.errorAtKey(
          "share_threshold",
          "`share_threshold` needs a wildcard, but %s has no *"
              .formatted(Wording.quote(node.composite())),
          "write value: prefix*, or remove share_threshold");
    }
    if (node.wildcard() && !descriptor.has("share_threshold")) {
      ClientWildcards.check(node, descriptor.valueAt("value"), problems);
    }
    StreamDoneEntry reserved = StreamDoneEntry.of(node.key());
    if (reserved != null) {
      problems.warning(
          fields.location(),
          "nothing reaches this descriptor: an entry %s %s a permit"
              .formatted(Wording.quote(node.key()), reserved.effect()),
          "choose another key, or remove the descriptor");
    }
    checkOwnEntries(node);
    return node;
  }

  private static String placeOf(Fields descriptor) {
    Place withLimits = PolicyLanguage.declared().place("descriptor_with_limits");
    if (descriptor.get("limits") != null || withLimits.isMisspelt("limits", descriptor)) {
      return "descriptor_with_limits";
    }
    return descriptor.get("concurrency") != null && descriptor.get("rate_limit") == null
        ? "descriptor_with_concurrency"
        : "descriptor";
  }

  /** Reports children that an entry would match which only names something for the rule. */
  private void checkOwnEntries(DescriptorNode node) {
    RuleSpec rule = node.rule();
    if (rule == null) {
      return;
    }
    String priority = rule.priorityEntry();
    FairShare share = rule.fairShare();
    for (DescriptorNode child : node.children()) {
      if (priority != null && takesAPriority(child, priority)) {
        reportTaken(child, priority, "priority", node);
      }
      checkOwnEntry(child, rule.userEntry(), "user", node);
      if (share != null) {
        checkOwnEntry(child, share.tenantEntry(), "tenant", node);
        checkOwnEntry(child, share.weightEntry(), "weight", node);
      }
    }
  }

  private void checkOwnEntry(
      DescriptorNode child, @Nullable String entry, String named, DescriptorNode node) {
    if (entry != null && child.matchesSomeValueOf(entry)) {
      reportTaken(child, entry, named, node);
    }
  }

  private static boolean takesAPriority(DescriptorNode child, String entry) {
    return child.key().equals(entry)
        || PRIORITIES.stream().anyMatch(value -> child.matches(entry, value));
  }

  private void reportTaken(DescriptorNode child, String entry, String named, DescriptorNode node) {
    RuleSpec rule = Objects.requireNonNull(node.rule());
    problems.error(
        child.location(),
        "the entry %s names the %s for the %s at %s, so that it cannot lead here"
            .formatted(
                Wording.quote(entry),
                named,
                rule.concurrency() == null ? "limit" : "concurrency limit",
                rule.location()),
        "choose another key for the " + named + ", or another descriptor here");
  }
}
