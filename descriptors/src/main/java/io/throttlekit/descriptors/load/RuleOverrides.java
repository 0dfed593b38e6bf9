package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.WildcardPattern;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.YamlNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settings of rules that come from a source which has none for them, such as a control plane: the
 * tier, the scope, {@code on_outage} and others of the policy language.
 *
 * <p>An override names a domain and descriptors, in which {@code *} stands for any text. It holds
 * for the rules of the descriptors that it names and for all below them. Of two that set the same
 * key, the later one in the file counts. Immutable and thread-safe.
 */
public final class RuleOverrides {
  /** No overrides. */
  public static final RuleOverrides NONE = new RuleOverrides(List.of());

  /** Keys of an override's rate_limit that stand in each limit of a list, and not beside it. */
  private static final Set<String> OF_EACH_LIMIT = Set.of("algorithm", "burst");

  private final List<RuleOverride> overrides;

  RuleOverrides(List<RuleOverride> overrides) {
    this.overrides = List.copyOf(overrides);
  }

  /**
   * Result of reading a file.
   *
   * @param overrides null exactly when a problem is an error
   */
  public record Reading(@Nullable RuleOverrides overrides, List<Problem> problems) {
    /** Copies the list. */
    public Reading {
      problems = List.copyOf(problems);
    }
  }

  /**
   * Text in which {@code *} stands for any text.
   *
   * @param wildcard null if there is none
   */
  record Pattern(String text, @Nullable WildcardPattern wildcard) {
    /** Creates the pattern; an empty text is that of any text. */
    static Pattern of(String text) {
      // The mark at the end stands for that between key and value, which the wildcards expect.
      String any = text.isEmpty() ? "*" : text;
      return new Pattern(any, any.contains("*") ? WildcardPattern.of(any + '_') : null);
    }

    boolean matches(String other) {
      return wildcard == null ? text.equals(other) : wildcard.matches(other, "");
    }
  }

  /**
   * Settings for the rules of some descriptors.
   *
   * @param path key, value, key, value … of the descriptors from the root of the domain
   * @param limit entries for the limit
   * @param beside entries for the descriptor
   */
  record RuleOverride(
      SourceLocation location,
      Pattern domain,
      List<Pattern> path,
      List<YamlNode.Entry> limit,
      List<YamlNode.Entry> beside) {

    RuleOverride {
      path = List.copyOf(path);
      limit = List.copyOf(limit);
      beside = List.copyOf(beside);
    }

    boolean matches(String name, List<String> entries) {
      if (entries.size() < path.size() || !domain.matches(name)) {
        return false;
      }
      for (int i = 0; i < path.size(); i++) {
        if (!path.get(i).matches(entries.get(i))) {
          return false;
        }
      }
      return true;
    }
  }

  /** Reads a file of overrides, or reports all errors in it. */
  public static Reading read(PolicySource source, LoadOptions options) {
    return OverridesReader.read(source, options);
  }

  /** Returns whether there are none. */
  public boolean isEmpty() {
    return overrides.isEmpty();
  }

  /** Starts to apply the overrides to all rules of a load. */
  public Application start() {
    return new Application();
  }

  /** Applies the overrides to the rules of one load, and notes those that are used. */
  public final class Application {
    private final Set<RuleOverride> used = Collections.newSetFromMap(new IdentityHashMap<>());

    private Application() {}

    /**
     * Returns the descriptor with the settings that hold for its rule; the descriptor itself if
     * none do, or if it limits nothing.
     *
     * @param entries key, value, key, value … of the descriptors that lead to it, with its own
     * @param descriptor its fields, without nested descriptors
     */
    public YamlNode.Mapping apply(
        String domain, List<String> entries, YamlNode.Mapping descriptor) {
      Map<String, YamlNode.Entry> fields = byName(descriptor);
      if (!limits(fields)) {
        return descriptor;
      }
      Map<String, YamlNode.Entry> limit = new LinkedHashMap<>();
      Map<String, YamlNode.Entry> beside = new LinkedHashMap<>();
      for (RuleOverride override : overrides) {
        if (override.matches(domain, entries)) {
          used.add(override);
          put(override.limit(), override.location(), descriptor.location(), limit);
          put(override.beside(), override.location(), descriptor.location(), beside);
        }
      }
      if (limit.isEmpty() && beside.isEmpty()) {
        return descriptor;
      }
      fields.putAll(beside);
      YamlNode.Entry single = fields.get("rate_limit");
      YamlNode.Entry several = fields.get("limits");
      if (single != null) {
        fields.put("rate_limit", new YamlNode.Entry(single.key(), with(single.value(), limit)));
      } else if (several != null) {
        Map<String, YamlNode.Entry> ofEach = new LinkedHashMap<>(limit);
        ofEach.keySet().retainAll(OF_EACH_LIMIT);
        fields.put("limits", new YamlNode.Entry(several.key(), with(several.value(), ofEach)));
        limit.keySet().removeAll(OF_EACH_LIMIT);
        fields.putAll(limit);
      }
      return new YamlNode.Mapping(descriptor.location(), List.copyOf(fields.values()));
    }

    /** Warns of each override that no rule has used. */
    public void warnOfUnused(Problems problems) {
      for (RuleOverride override : overrides) {
        if (!used.contains(override)) {
          problems.warning(
              override.location(),
              "this override has no effect: no rule with a limit matches it",
              "compare domain, keys and values with those of /rlconfig");
        }
      }
    }
  }

  private static boolean limits(Map<String, YamlNode.Entry> fields) {
    YamlNode.Entry single = fields.get("rate_limit");
    return fields.containsKey("limits")
        || (single != null
            && single.value() instanceof YamlNode.Mapping limit
            && !byName(limit).containsKey("unlimited"));
  }

  private static void put(
      List<YamlNode.Entry> entries,
      SourceLocation override,
      SourceLocation descriptor,
      Map<String, YamlNode.Entry> into) {
    // Values were checked where they are written, so what remains concerns this descriptor, too.
    SourceLocation both =
        new SourceLocation(
            descriptor.file() + ", by " + override, descriptor.line(), descriptor.column());
    for (YamlNode.Entry entry : entries) {
      into.put(name(entry), new YamlNode.Entry(at(both, entry.key()), at(both, entry.value())));
    }
  }

  private static YamlNode with(YamlNode limits, Map<String, YamlNode.Entry> settings) {
    return switch (limits) {
      case YamlNode.Mapping limit -> {
        Map<String, YamlNode.Entry> fields = byName(limit);
        fields.putAll(settings);
        yield new YamlNode.Mapping(limit.location(), List.copyOf(fields.values()));
      }
      case YamlNode.Sequence list ->
          new YamlNode.Sequence(
              list.location(), list.items().stream().map(item -> with(item, settings)).toList());
      default -> limits;
    };
  }

  private static YamlNode at(SourceLocation location, YamlNode node) {
    return switch (node) {
      case YamlNode.Scalar scalar -> new YamlNode.Scalar(location, scalar.text(), scalar.kind());
      case YamlNode.Sequence list ->
          new YamlNode.Sequence(
              location, list.items().stream().map(item -> at(location, item)).toList());
      case YamlNode.Mapping mapping -> {
        List<YamlNode.Entry> entries = new ArrayList<>();
        for (YamlNode.Entry entry : mapping.entries()) {
          entries.add(new YamlNode.Entry(at(location, entry.key()), at(location, entry.value())));
        }
        yield new YamlNode.Mapping(location, entries);
      }
      case YamlNode.Unreadable _ -> new YamlNode.Unreadable(location);
    };
  }

  private static Map<String, YamlNode.Entry> byName(YamlNode.Mapping mapping) {
    Map<String, YamlNode.Entry> fields = new LinkedHashMap<>();
    mapping.entries().forEach(entry -> fields.put(name(entry), entry));
    return fields;
  }

  private static String name(YamlNode.Entry entry) {
    return entry.key() instanceof YamlNode.Scalar key && key.kind() != ScalarKind.MERGE
        ? key.text()
        : "<<";
  }
}
