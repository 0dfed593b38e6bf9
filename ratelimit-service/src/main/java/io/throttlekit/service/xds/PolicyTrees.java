package io.throttlekit.service.xds;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.throttlekit.descriptors.load.RuleOverrides;
import io.throttlekit.descriptors.source.PolicyTree;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.YamlNode;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.envoy.ratelimit.RateLimitPolicy;
import io.throttlekit.envoy.ratelimit.RateLimitReplace;
import io.throttlekit.envoy.ratelimit.RateLimitUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Makes policies in the form that files have from the descriptors of a control plane, so that they
 * are checked and loaded as files are. For one load.
 *
 * <p>Several descriptors of one key and value become one. Limits that differ only in their numbers
 * all apply; of two with the same unit that is the smaller one.
 */
final class PolicyTrees {
  private static final double MAX_EXACT = 1L << 53; // greatest whole number of a double

  private final RuleOverrides.Application overrides;
  private final Problems problems;
  private final Set<String> unknownFields = new HashSet<>();

  /**
   * @param problems receives those of descriptors that cannot be expressed as a policy
   */
  PolicyTrees(RuleOverrides.Application overrides, Problems problems) {
    this.overrides = overrides;
    this.problems = problems;
  }

  /** Returns the policy of a domain. */
  PolicyTree of(String domain, SentDescriptor root) {
    List<YamlNode.Entry> entries = new ArrayList<>();
    entries.add(entry(root.at(), "domain", text(root.at(), domain)));
    entries.add(entry(root.at(), "descriptors", list(domain, root)));
    return new PolicyTree(root.at().file(), new YamlNode.Mapping(root.at(), entries));
  }

  private YamlNode list(String domain, SentDescriptor parent) {
    List<YamlNode> items = new ArrayList<>();
    for (SentDescriptor child : parent.children()) {
      YamlNode.Mapping sent = rule(child);
      YamlNode.Mapping rule =
          child.takesOverrides() ? overrides.apply(domain, child.entries(), sent) : sent;
      child.setOverridden(!rule.equals(sent));
      List<YamlNode.Entry> entries = new ArrayList<>(rule.entries());
      if (!child.children().isEmpty()) {
        entries.add(entry(child.at(), "descriptors", list(domain, child)));
      }
      items.add(new YamlNode.Mapping(child.at(), entries));
    }
    return new YamlNode.Sequence(parent.at(), items);
  }

  /** Returns a descriptor without those nested in it. */
  private YamlNode.Mapping rule(SentDescriptor descriptor) {
    SourceLocation at = descriptor.at();
    if (descriptor.isTooLong()) {
      problems.error(
          at,
          "the keys and values that lead to it are too long",
          "at most " + SentDescriptor.MAX_PATH + " characters together");
    }
    if (descriptor.isTooOften()) {
      problems.error(
          at,
          "too many descriptors of this key and value",
          "at most " + SentDescriptor.MAX_SAME + " beside each other");
    }
    List<YamlNode.Entry> entries = new ArrayList<>();
    entries.add(entry(at, "key", text(at, descriptor.key())));
    if (!descriptor.value().isEmpty()) {
      entries.add(entry(at, "value", text(at, descriptor.value())));
    }
    Set<RateLimitDescriptor> rules = new LinkedHashSet<>();
    for (RateLimitDescriptor own : descriptor.own()) {
      warnOfUnknownFields(at, own);
      if (own.getDescriptorsCount() > 0) {
        problems.error(at, "nested too deeply", "at most 64 levels of descriptors");
      }
      if (own.hasRateLimit()) {
        rules.add(own);
      }
    }
    // Without a limit, the flags have no effect; Envoy Gateway sets shadow_mode on every level.
    if (!rules.isEmpty()) {
      addRule(at, List.copyOf(rules), entries);
    }
    return new YamlNode.Mapping(at, entries);
  }

  private void addRule(
      SourceLocation at, List<RateLimitDescriptor> rules, List<YamlNode.Entry> entries) {
    RateLimitDescriptor first = rules.getFirst();
    List<RateLimitPolicy> limits = combined(at, rules);
    if (limits.size() == 1) {
      List<YamlNode.Entry> limit = limit(at, limits.getFirst());
      limit.addAll(named(at, limits.getFirst()));
      entries.add(entry(at, "rate_limit", new YamlNode.Mapping(at, limit)));
    } else {
      List<YamlNode> each = new ArrayList<>();
      limits.forEach(limit -> each.add(new YamlNode.Mapping(at, limit(at, limit))));
      entries.add(entry(at, "limits", new YamlNode.Sequence(at, each)));
      entries.addAll(named(at, limits.getFirst()));
    }
    addFlag(at, "shadow_mode", first.getShadowMode(), entries);
    addFlag(at, "quota_mode", first.getQuotaMode(), entries);
    addFlag(at, "detailed_metric", first.getDetailedMetric(), entries);
    if (first.hasMetadata()) {
      entries.add(entry(at, "metadata", struct(at, first.getMetadata())));
    }
  }

  /** Returns the limits of one descriptor, at most one for each unit. */
  private List<RateLimitPolicy> combined(SourceLocation at, List<RateLimitDescriptor> rules) {
    RateLimitDescriptor first = rules.getFirst();
    Map<Integer, RateLimitPolicy> byUnit = new LinkedHashMap<>();
    for (RateLimitDescriptor rule : rules) {
      RateLimitPolicy limit = rule.getRateLimit();
      Set<String> differences = new LinkedHashSet<>(differences(first, rule, Set.of("rate_limit")));
      boolean both = !limit.getUnlimited() && !first.getRateLimit().getUnlimited();
      Set<String> numbers = both ? Set.of("unit", "requests_per_unit") : Set.of();
      differences.addAll(differences(first.getRateLimit(), limit, numbers));
      if (!differences.isEmpty()) {
        problems.error(
            at,
            "two descriptors of this key and value differ in " + String.join(", ", differences),
            "send one of them");
      }
      RateLimitPolicy same = byUnit.get(limit.getUnitValue());
      if (same != null) {
        problems.warning(
            at,
            "two descriptors of this key and value have limits per %s, %s and %s: the smaller applies"
                .formatted(unit(limit), requests(same), requests(limit)),
            "");
      }
      if (same == null
          || Integer.compareUnsigned(limit.getRequestsPerUnit(), same.getRequestsPerUnit()) < 0) {
        byUnit.put(limit.getUnitValue(), limit);
      }
    }
    return List.copyOf(byUnit.values());
  }

  private static Set<String> differences(
      MessageOrBuilder one, MessageOrBuilder other, Set<String> without) {
    Set<String> names = new LinkedHashSet<>();
    for (FieldDescriptor field : one.getDescriptorForType().getFields()) {
      if (!without.contains(field.getName())
          && !Objects.equals(one.getField(field), other.getField(field))) {
        names.add(field.getName());
      }
    }
    return names;
  }

  private static List<YamlNode.Entry> limit(SourceLocation at, RateLimitPolicy limit) {
    List<YamlNode.Entry> entries = new ArrayList<>();
    boolean unlimited = limit.getUnlimited();
    addFlag(at, "unlimited", unlimited, entries);
    if (limit.getUnit() != RateLimitUnit.UNKNOWN) {
      entries.add(entry(at, "unit", text(at, unit(limit))));
    }
    if (!unlimited || limit.getRequestsPerUnit() != 0) {
      YamlNode number = new YamlNode.Scalar(at, requests(limit), ScalarKind.INTEGER);
      entries.add(entry(at, "requests_per_unit", number));
    }
    return entries;
  }

  private static List<YamlNode.Entry> named(SourceLocation at, RateLimitPolicy limit) {
    List<YamlNode.Entry> entries = new ArrayList<>();
    if (!limit.getName().isEmpty()) {
      entries.add(entry(at, "name", text(at, limit.getName())));
    }
    List<YamlNode> replaces = new ArrayList<>();
    for (RateLimitReplace replaced : limit.getReplacesList()) {
      YamlNode.Entry name = entry(at, "name", text(at, replaced.getName()));
      replaces.add(new YamlNode.Mapping(at, List.of(name)));
    }
    if (!replaces.isEmpty()) {
      entries.add(entry(at, "replaces", new YamlNode.Sequence(at, replaces)));
    }
    return entries;
  }

  private static String requests(RateLimitPolicy limit) {
    return Integer.toUnsignedString(limit.getRequestsPerUnit());
  }

  /** Returns the word of a unit; the number of one that has none, which is an error then. */
  private static String unit(RateLimitPolicy limit) {
    return limit.getUnit() == RateLimitUnit.UNRECOGNIZED
        ? Integer.toString(limit.getUnitValue())
        : limit.getUnit().name().toLowerCase(Locale.ROOT);
  }

  private void warnOfUnknownFields(SourceLocation at, RateLimitDescriptor descriptor) {
    warnOfUnknownFields(at, (MessageOrBuilder) descriptor);
    warnOfUnknownFields(at, descriptor.getRateLimit());
    descriptor
        .getRateLimit()
        .getReplacesList()
        .forEach(replaced -> warnOfUnknownFields(at, replaced));
  }

  private void warnOfUnknownFields(SourceLocation at, MessageOrBuilder message) {
    for (int number : message.getUnknownFields().asMap().keySet()) {
      String field = number + " of " + message.getDescriptorForType().getName();
      if (unknownFields.add(field)) {
        problems.warning(at, "this version does not know the field " + field, "it has no effect");
      }
    }
  }

  private static YamlNode struct(SourceLocation at, Struct struct) {
    List<YamlNode.Entry> entries = new ArrayList<>();
    struct.getFieldsMap().forEach((name, value) -> entries.add(entry(at, name, value(at, value))));
    return new YamlNode.Mapping(at, entries);
  }

  private static YamlNode value(SourceLocation at, Value value) {
    return switch (value.getKindCase()) {
      case STRING_VALUE -> text(at, value.getStringValue());
      case BOOL_VALUE ->
          new YamlNode.Scalar(at, String.valueOf(value.getBoolValue()), ScalarKind.BOOL);
      case NUMBER_VALUE -> number(at, value.getNumberValue());
      case STRUCT_VALUE -> struct(at, value.getStructValue());
      case LIST_VALUE ->
          new YamlNode.Sequence(
              at,
              value.getListValue().getValuesList().stream().map(item -> value(at, item)).toList());
      case NULL_VALUE, KIND_NOT_SET -> new YamlNode.Scalar(at, "", ScalarKind.NULL);
    };
  }

  private static YamlNode number(SourceLocation at, double number) {
    boolean whole = number == Math.rint(number) && Math.abs(number) <= MAX_EXACT;
    return whole
        ? new YamlNode.Scalar(at, Long.toString((long) number), ScalarKind.INTEGER)
        : new YamlNode.Scalar(at, Double.toString(number), ScalarKind.FLOAT);
  }

  private static void addFlag(
      SourceLocation at, String name, boolean value, List<YamlNode.Entry> entries) {
    if (value) {
      entries.add(entry(at, name, new YamlNode.Scalar(at, "true", ScalarKind.BOOL)));
    }
  }

  private static YamlNode.Entry entry(SourceLocation at, String name, YamlNode value) {
    return new YamlNode.Entry(text(at, name), value);
  }

  private static YamlNode text(SourceLocation at, String text) {
    return new YamlNode.Scalar(at, text, ScalarKind.TEXT);
  }
}
