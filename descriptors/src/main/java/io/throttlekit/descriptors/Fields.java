package io.throttlekit.descriptors;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A mapping by the names of its fields.
 *
 * <p>Fields and merge keys count in the order of the file, and the last word wins, as in
 * gopkg.in/yaml.v2. So does a second {@code rate_limit} or {@code metadata}, but only field by
 * field.
 */
final class Fields {
  private static final Set<String> JOINED = Set.of("rate_limit", "metadata");

  private final SourceLocation location;
  private final Problems problems;
  private final Map<String, Field> byName = new LinkedHashMap<>();

  /** One field; {@code at} is where its key stands. */
  record Field(SourceLocation at, String name, YamlNode value) {}

  private Fields(SourceLocation location, Problems problems) {
    this.location = location;
    this.problems = problems;
  }

  /** The fields of {@code mapping}; reports keys that are not text, and those given twice. */
  static Fields of(YamlNode.Mapping mapping, Problems problems) {
    Fields fields = new Fields(mapping.location(), problems);
    fields.addAll(mapping);
    return fields;
  }

  SourceLocation location() {
    return location;
  }

  Collection<Field> all() {
    return byName.values();
  }

  /** The field, unless it is absent or says nothing. */
  @Nullable Field get(String name) {
    Field field = byName.get(name);
    return field == null || field.value().isNull() ? null : field;
  }

  private void addAll(YamlNode.Mapping mapping) {
    Map<String, SourceLocation> written = new LinkedHashMap<>();
    for (YamlNode.Entry entry : mapping.entries()) {
      if (!(entry.key() instanceof YamlNode.Scalar key)) {
        notText(entry.key());
      } else if (key.kind() == ScalarKind.MERGE) {
        merge(entry.value());
      } else if (key.kind() != ScalarKind.TEXT) {
        notText(key);
      } else {
        SourceLocation first = written.putIfAbsent(key.text(), key.location());
        if (first != null) {
          problems.warning(
              key.location(),
              Wording.quote(key.text()) + " stands here twice: first at " + first,
              "the last one counts; remove the other");
        }
        put(new Field(key.location(), key.text(), entry.value()));
      }
    }
  }

  private void put(Field field) {
    Field before = byName.get(field.name());
    if (before != null
        && JOINED.contains(field.name())
        && before.value() instanceof YamlNode.Mapping older
        && field.value() instanceof YamlNode.Mapping newer) {
      byName.put(field.name(), new Field(field.at(), field.name(), join(older, newer)));
    } else {
      byName.put(field.name(), field);
    }
  }

  private static YamlNode join(YamlNode.Mapping older, YamlNode.Mapping newer) {
    YamlNode key = new YamlNode.Scalar(older.location(), "<<", ScalarKind.MERGE);
    List<YamlNode.Entry> entries = new ArrayList<>();
    entries.add(new YamlNode.Entry(key, older));
    entries.addAll(newer.entries());
    return new YamlNode.Mapping(newer.location(), entries);
  }

  private void merge(YamlNode value) {
    switch (value) {
      case YamlNode.Mapping mapping -> addAll(mapping);
      case YamlNode.Sequence sequence -> {
        // Of a list the first has the last word.
        for (YamlNode item : sequence.items().reversed()) {
          if (item instanceof YamlNode.Mapping mapping) {
            addAll(mapping);
          } else {
            notMergeable(item);
          }
        }
      }
      case YamlNode.Scalar scalar -> notMergeable(scalar);
    }
  }

  private void notMergeable(YamlNode value) {
    problems.error(
        value.location(),
        "`<<` needs a mapping or a list of mappings, but here is " + value.describe(),
        "write <<: *anchor");
  }

  private void notText(YamlNode key) {
    problems.error(key.location(), "a key must be text, but here is " + key.describe(), "quote it");
  }
}
