package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.load.RuleOverrides.Pattern;
import io.throttlekit.descriptors.load.RuleOverrides.RuleOverride;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Fields.Field;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.YamlNode;
import io.throttlekit.descriptors.source.YamlTree;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads a file of {@link RuleOverrides}. */
final class OverridesReader {
  /** Keys of an override that stand in the descriptor of the rule. */
  private static final List<String> BESIDE = List.of("denied", "shadow_mode", "detailed_metric");

  /** Keys that select rules. */
  private static final Set<String> NAMES = Set.of("domain", "key", "value");

  private final LoadOptions options;
  private final Problems problems;
  private final List<RuleOverride> found = new ArrayList<>();

  private OverridesReader(LoadOptions options, Problems problems) {
    this.options = options;
    this.problems = problems;
  }

  static RuleOverrides.Reading read(PolicySource source, LoadOptions options) {
    Problems problems = new Problems();
    YamlNode root = YamlTree.read(source, problems);
    OverridesReader reader = new OverridesReader(options, problems);
    if (root != null) {
      reader.readFile(root);
    }
    return new RuleOverrides.Reading(
        problems.hasErrors() ? null : new RuleOverrides(reader.found), problems.sorted(Map.of()));
  }

  private void readFile(YamlNode root) {
    if (root instanceof YamlNode.Mapping mapping) {
      PolicySection file = new PolicySection(Fields.of(mapping, problems), "overrides", problems);
      for (PolicySection entry : file.sections("overrides")) {
        Pattern domain = Pattern.of(entry.required("domain"));
        read(entry, domain, List.of(), Settings.NONE);
      }
    } else if (!(root instanceof YamlNode.Unreadable)) {
      problems.error(
          root.location(),
          root.isNull()
              ? "the file is empty"
              : "a file of overrides is a mapping, but here is " + root.describe(),
          "begin with overrides:");
    }
  }

  /** Entries of an override by their names. */
  private record Settings(Map<String, Field> limit, Map<String, Field> beside) {
    static final Settings NONE = new Settings(Map.of(), Map.of());

    static Settings of(PolicySection section) {
      Map<String, Field> beside = new LinkedHashMap<>();
      for (String key : BESIDE) {
        put(section, key, beside);
      }
      Map<String, Field> limit = new LinkedHashMap<>();
      PolicySection written = section.section("rate_limit");
      if (written != null) {
        PolicyLanguage.declared()
            .place("override_limit")
            .names()
            .forEach(key -> put(written, key, limit));
      }
      return new Settings(limit, beside);
    }

    private static void put(PolicySection section, String key, Map<String, Field> into) {
      Field field = section.get(key);
      if (field != null) {
        into.put(key, field);
      }
    }

    boolean isEmpty() {
      return limit.isEmpty() && beside.isEmpty();
    }

    /** Returns these, and those of {@code outer} that they do not replace. */
    Settings within(Settings outer) {
      return new Settings(merged(outer.limit, limit), merged(outer.beside, beside));
    }

    private static Map<String, Field> merged(Map<String, Field> outer, Map<String, Field> inner) {
      Map<String, Field> merged = new LinkedHashMap<>(outer);
      merged.putAll(inner);
      return merged;
    }

    static List<YamlNode.Entry> entries(Map<String, Field> fields) {
      return fields.values().stream()
          .map(field -> entry(field.at(), field.name(), field.value()))
          .toList();
    }
  }

  private void read(PolicySection at, Pattern domain, List<Pattern> path, Settings outer) {
    Settings own = Settings.of(at);
    Settings effective = own.within(outer);
    if (!own.isEmpty()) {
      found.add(
          new RuleOverride(
              at.location(),
              domain,
              path,
              Settings.entries(own.limit()),
              Settings.entries(own.beside())));
      checkValues(at.location(), effective);
    }
    if (at.fields().all().stream().allMatch(field -> NAMES.contains(field.name()))) {
      problems.warning(at.location(), "this override sets nothing", "add rate_limit, or remove it");
    }
    for (PolicySection descriptor : at.sections("descriptors")) {
      List<Pattern> below = new ArrayList<>(path);
      below.add(Pattern.of(descriptor.required("key")));
      below.add(Pattern.of(descriptor.text("value")));
      read(descriptor, domain, below, effective);
    }
  }

  /** Reports errors of values, by reading them as those of a rule. */
  private void checkValues(SourceLocation at, Settings settings) {
    List<YamlNode.Entry> limit = new ArrayList<>(Settings.entries(settings.limit()));
    limit.add(entry(at, "requests_per_unit", scalar(at, "100000", ScalarKind.INTEGER)));
    limit.add(entry(at, "unit", scalar(at, "hour", ScalarKind.TEXT)));
    List<YamlNode.Entry> descriptor = new ArrayList<>(Settings.entries(settings.beside()));
    descriptor.add(entry(at, "key", scalar(at, "any", ScalarKind.TEXT)));
    descriptor.add(entry(at, "rate_limit", new YamlNode.Mapping(at, limit)));
    YamlNode list = new YamlNode.Sequence(at, List.of(new YamlNode.Mapping(at, descriptor)));
    YamlNode.Mapping root = new YamlNode.Mapping(at, List.of(entry(at, "descriptors", list)));
    Problems ofRule = new Problems();
    PolicySection section = new PolicySection(Fields.of(root, ofRule), "root", ofRule);
    var _ = new DescriptorReader(options, ofRule, List.of()).readAll(section);
    for (Problem problem : ofRule.sorted(Map.of())) {
      if (problem.severity() == Severity.ERROR) { // warnings depend on the limit, which is invented
        problems.add(problem);
      }
    }
  }

  private static YamlNode.Entry entry(SourceLocation at, String name, YamlNode value) {
    return new YamlNode.Entry(scalar(at, name, ScalarKind.TEXT), value);
  }

  private static YamlNode scalar(SourceLocation at, String text, ScalarKind kind) {
    return new YamlNode.Scalar(at, text, kind);
  }
}
