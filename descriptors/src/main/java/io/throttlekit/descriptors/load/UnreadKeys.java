package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.yaml.Fields;
import io.throttlekit.descriptors.yaml.YamlNode;
import org.jspecify.annotations.Nullable;

/**
 * Checks the keys within a field that has no effect where it stands. Its values are not read, but a
 * key that is unknown everywhere is still an error, as in envoyproxy/ratelimit.
 */
final class UnreadKeys {
  private final Problems problems;

  UnreadKeys(Problems problems) {
    this.problems = problems;
  }

  /** Reports each unknown key below {@code field}, at any depth. */
  void check(Fields.Field field) {
    PolicyLanguage language = PolicyLanguage.declared();
    Key key = language.anywhere(field.name());
    if (key == null) {
      check(field.value(), null);
    } else if (!key.attribute("type").equals("free")) {
      String of = key.attribute("of");
      check(field.value(), of.isEmpty() ? null : language.place(of));
    }
  }

  private void check(YamlNode value, @Nullable Place place) {
    if (value instanceof YamlNode.Mapping mapping) {
      for (Fields.Field field : Fields.of(mapping, problems).all()) {
        if (!PolicyLanguage.declared().keys().contains(field.name())) {
          unknown(field, place);
        }
        check(field);
      }
    } else if (value instanceof YamlNode.Sequence sequence) {
      sequence.items().forEach(item -> check(item, place));
    }
  }

  private void unknown(Fields.Field field, @Nullable Place place) {
    String key = "unknown key " + Wording.quote(field.name());
    if (place != null) {
      String hint = Wording.suggest(field.name(), place.names());
      problems.error(field.at(), key + " " + place.where(), hint);
    } else {
      String nearest = Wording.nearest(field.name(), PolicyLanguage.declared().keys());
      problems.error(field.at(), key, nearest == null ? "" : "did you mean " + nearest + "?");
    }
  }
}
