package io.throttlekit.descriptors.source;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A mapping, indexed by the names of its fields.
 *
 * <p>Fields and merge keys count in the order of the file, and the last one wins, as in
 * gopkg.in/yaml.v2. A second {@code rate_limit} or {@code metadata} replaces the first field by
 * field.
 */
public final class Fields {
  private static final Set<String> JOINED = Set.of("rate_limit", "metadata");

  private final SourceLocation location;
  private final Problems problems;
  private final Map<String, Field> byName = new LinkedHashMap<>();
  // Mappings of one name, to be joined.
  private final Map<String, List<YamlNode.Mapping>> parts = new HashMap<>();

  /** One field; {@code at} is where its key stands. */
  public record Field(SourceLocation at, String name, YamlNode value) {

    /** Returns the value if it is a scalar, or else null. */
    public YamlNode.@Nullable Scalar scalar() {
      return value instanceof YamlNode.Scalar scalar ? scalar : null;
    }

    /** Returns whether the value counts as a text: decimal numbers need quotes. */
    public boolean isText() {
      return value instanceof YamlNode.Scalar scalar && scalar.kind() != ScalarKind.FLOAT;
    }

    /** Returns whether the value is a text that would be of this kind without its quotes. */
    public boolean isQuoted(ScalarKind kind) {
      return value instanceof YamlNode.Scalar scalar
          && scalar.kind() == ScalarKind.TEXT
          && ScalarKind.ofPlain(scalar.text()) == kind;
    }
  }

  private boolean incomplete;

  private Fields(SourceLocation location, Problems problems) {
    this.location = location;
    this.problems = problems;
  }

  /** Indexes the fields of {@code mapping}; reports keys that are not text, and duplicates. */
  public static Fields of(YamlNode.Mapping mapping, Problems problems) {
    Fields fields = new Fields(mapping.location(), problems);
    fields.addAll(mapping);
    fields.joinParts();
    return fields;
  }

  /** Returns whether a second mapping of this name is joined with the first, field by field. */
  static boolean isJoined(String name) {
    return JOINED.contains(name);
  }

  /** Returns where the mapping begins. */
  public SourceLocation location() {
    return location;
  }

  /** Returns the fields, in the order in which their names first appear. */
  public Collection<Field> all() {
    return byName.values();
  }

  /** Returns the field, or null when it is absent or has no value. */
  public @Nullable Field get(String name) {
    Field field = byName.get(name);
    return field == null || field.value().isNull() ? null : field;
  }

  /** Returns the field if it is written without a value, or else null. */
  public @Nullable Field empty(String name) {
    Field field = byName.get(name);
    return field != null && field.value().isNull() ? field : null;
  }

  /**
   * Returns whether a part of the mapping could not be read, so that any field may be missing from
   * it.
   */
  public boolean incomplete() {
    return incomplete;
  }

  private void addAll(YamlNode.Mapping mapping) {
    Map<String, SourceLocation> written = new HashMap<>();
    LateMerges lateMerges = new LateMerges();
    for (YamlNode.Entry entry : mapping.entries()) {
      if (!(entry.key() instanceof YamlNode.Scalar key)) {
        notText(entry.key());
      } else if (key.kind() == ScalarKind.MERGE) {
        Fields merged = new Fields(location, problems);
        merged.merge(entry.value());
        merged.joinParts();
        incomplete |= merged.incomplete;
        for (Field field : merged.all()) {
          put(field);
          lateMerges.merged(key.location(), field);
        }
      } else if (key.kind() != ScalarKind.TEXT) {
        notText(key);
      } else {
        Field field = new Field(key.location(), key.text(), entry.value());
        SourceLocation first = written.putIfAbsent(field.name(), field.at());
        if (first != null) {
          problems.warning(
              field.at(),
              Wording.quote(field.name()) + " stands here twice: first at " + first,
              isJoined(field.name())
                  ? "both count, the last one where they differ; put them into one"
                  : "the last one counts; remove the other");
        }
        put(field);
        lateMerges.wrote(field);
      }
    }
    lateMerges.report(problems);
  }

  private void put(Field field) {
    Field before = byName.put(field.name(), field);
    if (before != null
        && isJoined(field.name())
        && before.value() instanceof YamlNode.Mapping older
        && field.value() instanceof YamlNode.Mapping newer) {
      parts.computeIfAbsent(field.name(), name -> new ArrayList<>(List.of(older))).add(newer);
    } else {
      parts.remove(field.name());
    }
  }

  /**
   * Replaces mappings given several times under one name by one that merges them at the same level.
   */
  private void joinParts() {
    parts.forEach((name, mappings) -> {
      Field last = Objects.requireNonNull(byName.get(name));
      YamlNode key = new YamlNode.Scalar(last.value().location(), "<<", ScalarKind.MERGE);
      // Of a list that is merged, the first item wins.
      List<YamlNode> newestFirst = new ArrayList<>(mappings.reversed());
      YamlNode list = new YamlNode.Sequence(last.value().location(), newestFirst);
      YamlNode joined =
          new YamlNode.Mapping(last.value().location(), List.of(new YamlNode.Entry(key, list)));
      byName.put(name, new Field(last.at(), name, joined));
    });
    parts.clear();
  }

  private void merge(YamlNode value) {
    switch (value) {
      case YamlNode.Mapping mapping -> addAll(mapping);
      case YamlNode.Sequence sequence -> {
        // Of a list, the first item wins.
        for (YamlNode item : sequence.items().reversed()) {
          if (item instanceof YamlNode.Mapping mapping) {
            addAll(mapping);
          } else if (item instanceof YamlNode.Unreadable) {
            incomplete = true;
          } else {
            notMergeable(item, problems);
          }
        }
      }
      case YamlNode.Scalar scalar -> notMergeable(scalar, problems);
      case YamlNode.Unreadable _ -> incomplete = true;
    }
  }

  /** Reports a value of a merge key that is no mapping. */
  public static void notMergeable(YamlNode value, Problems problems) {
    problems.error(
        value.location(),
        "`<<` needs a mapping or a list of mappings, but here is " + value.describe(),
        "write <<: *anchor");
  }

  private void notText(YamlNode key) {
    if (key instanceof YamlNode.Unreadable) {
      incomplete = true;
    } else {
      problems.error(
          key.location(), "a key must be text, but here is " + key.describe(), "quote it");
    }
  }
}
