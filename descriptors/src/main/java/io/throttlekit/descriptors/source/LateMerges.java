package io.throttlekit.descriptors.source;

import io.throttlekit.descriptors.source.Fields.Field;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Warns of keys of one mapping that a {@code <<} further down replaces.
 *
 * <p>In YAML, written keys always win over merged ones. envoyproxy/ratelimit goes by the order
 * instead, which surprises authors who write the merge last.
 */
final class LateMerges {
  private final Map<String, Written> written = new HashMap<>();
  private final Map<String, Map<String, Replaced>> beaten = new LinkedHashMap<>();

  /** A field that the mapping itself contains; {@code inner} are the keys of its value. */
  private record Written(Field field, Map<String, SourceLocation> inner) {}

  private record Replaced(SourceLocation merge, SourceLocation key) {}

  /** Records that the mapping itself contains {@code field}. */
  void wrote(Field field) {
    Map<String, SourceLocation> inner =
        Fields.isJoined(field.name()) ? keys(field.value()) : Map.of();
    written.put(field.name(), new Written(field, inner));
    beaten.remove(field.name());
  }

  /** Records that a {@code <<} at {@code merge} brings {@code field}. */
  void merged(SourceLocation merge, Field field) {
    Written before = written.get(field.name());
    if (before == null) {
      return;
    }
    Map<String, Replaced> ofField =
        beaten.computeIfAbsent(field.name(), name -> new LinkedHashMap<>());
    boolean joined =
        Fields.isJoined(field.name()) && before.field().value() instanceof YamlNode.Mapping;
    if (joined && field.value() instanceof YamlNode.Mapping) {
      for (String key : keys(field.value()).keySet()) {
        SourceLocation at = before.inner().get(key);
        if (at != null) {
          ofField.put(key, new Replaced(merge, at));
        }
      }
    } else {
      ofField.put(field.name(), new Replaced(merge, before.field().at()));
    }
  }

  void report(Problems problems) {
    for (Map<String, Replaced> ofField : beaten.values()) {
      ofField.forEach((key, at) ->
          problems.warning(
              at.merge(),
              "`<<` takes the place of %s, which stands before it at %s"
                  .formatted(Wording.quote(key), at.key()),
              "the last one counts; write `<<` first, or remove the key"));
    }
  }

  /** Returns the keys of a mapping that are text, with their places. */
  private static Map<String, SourceLocation> keys(YamlNode value) {
    Map<String, SourceLocation> keys = new LinkedHashMap<>();
    if (value instanceof YamlNode.Mapping mapping) {
      for (YamlNode.Entry entry : mapping.entries()) {
        if (entry.key() instanceof YamlNode.Scalar key && key.kind() == ScalarKind.TEXT) {
          keys.put(key.text(), key.location());
        }
      }
    }
    return keys;
  }
}
