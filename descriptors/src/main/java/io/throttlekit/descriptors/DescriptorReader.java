package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads descriptors and the descriptors nested in them. */
final class DescriptorReader {
  /** Values of a priority entry; the numeric levels are represented by {@code 0}. */
  private static final List<String> PRIORITIES =
      List.of("very_low", "low", "medium", "high", "very_high", "0");

  private final Problems problems;
  private final Values values;
  private final RuleReader ruleReader;

  DescriptorReader(LoadOptions options, Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
    this.ruleReader = new RuleReader(options, problems);
  }

  /**
   * Reads the field {@code descriptors} of {@code parent}. Leaves out descriptors without a key,
   * and reports those with equal texts.
   */
  List<DescriptorNode> readAll(Fields parent) {
    List<DescriptorNode> nodes = new ArrayList<>();
    Map<String, DescriptorNode> level = new HashMap<>();
    for (YamlNode.Mapping mapping : values.mappings(parent.get("descriptors"))) {
      DescriptorNode node = read(mapping);
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
    String text = Wording.quote(node.composite());
    if (first.key().equals(node.key())) {
      problems.error(
          node.location(),
          "the descriptor " + text + " is already defined at " + first.location(),
          "put both into one, or change a key or a value");
    } else {
      problems.error(
          node.location(),
          "the descriptor " + text + " cannot be told from the one at " + first.location(),
          "key and value are joined by _, and both give the same text: rename a key");
    }
  }

  private static boolean takesAPriority(DescriptorNode child, String entry) {
    WildcardPattern pattern = child.wildcard() ? WildcardPattern.of(child.composite()) : null;
    return PRIORITIES.stream()
        .anyMatch(value ->
            CompositeText.equals(child.composite(), entry, value)
                || (pattern != null && pattern.matches(entry, value)));
  }

  private DescriptorNode read(YamlNode.Mapping mapping) {
    Fields fields = Fields.of(mapping, problems);
    placeOf(fields).check(fields, problems);
    Field keyField = fields.get("key");
    String key = values.text(keyField);
    if (key.isEmpty()
        && (keyField == null
            ? !fields.incomplete() // a part that could not be read may hold the key
            : keyField.value() instanceof YamlNode.Scalar)) {
      problems.error(
          keyField == null ? fields.location() : keyField.value().location(),
          "the descriptor has no key",
          "write key: NAME");
    }
    String value = values.text(fields.get("value"));
    Field shared = fields.get("share_threshold");
    boolean shareThreshold = values.flag(shared);
    RuleSpec rule = ruleReader.read(fields);
    List<DescriptorNode> children = readAll(fields);
    DescriptorNode node =
        new DescriptorNode(
            fields.location(),
            key,
            value,
            shareThreshold,
            values.flag(fields.get("value_to_metric")),
            values.flag(fields.get("detailed_metric")),
            rule,
            children);
    if (shared != null && shareThreshold && !node.wildcard()) {
      problems.error(
          shared.at(),
          "`share_threshold` needs a wildcard, but "
              + Wording.quote(node.composite())
              + " has no *",
          "write value: prefix*, or remove share_threshold");
    }
    if (key.equals(Rule.LEASE_ENTRY)) {
      problems.warning(
          fields.location(),
          "nothing reaches this descriptor: an entry " + Wording.quote(key) + " gives a lease back",
          "choose another key, or remove the descriptor");
    }
    checkPriorityEntry(node);
    return node;
  }

  private static Place placeOf(Fields descriptor) {
    if (descriptor.get("limits") != null) {
      return Place.DESCRIPTOR_WITH_LIMITS;
    }
    return descriptor.get("concurrency") != null && descriptor.get("rate_limit") == null
        ? Place.DESCRIPTOR_WITH_CONCURRENCY
        : Place.DESCRIPTOR;
  }

  /** Reports children that an entry meant to name the request's priority would match. */
  private void checkPriorityEntry(DescriptorNode node) {
    RuleSpec rule = node.rule();
    String entry = rule == null ? null : rule.priorityEntry();
    if (entry == null || rule == null) {
      return;
    }
    for (DescriptorNode child : node.children()) {
      if (child.key().equals(entry) || takesAPriority(child, entry)) {
        problems.error(
            child.location(),
            "the entry "
                + Wording.quote(entry)
                + " names the priority for the concurrency limit at "
                + rule.location()
                + ", so that it cannot lead here",
            "choose another key for the priority, or another descriptor here");
      }
    }
  }
}
