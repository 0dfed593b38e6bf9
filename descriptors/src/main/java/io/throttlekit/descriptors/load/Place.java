package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Fields.Field;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Kind of mapping in a policy file, with the keys that have a meaning there.
 *
 * @param where the place in words, as the end of a sentence
 * @param ours whether envoyproxy/ratelimit has no such place. Its files cannot contain it, so a
 *     misplaced key is an error here instead of a warning
 * @param keys the keys by their names
 * @param hints what to do with a misplaced key, by its name
 * @param homes what to do with a misplaced key, by the place that has it; in order of preference
 * @param family name of the homes that count after those
 */
record Place(
    String where,
    boolean ours,
    Map<String, Key> keys,
    Map<String, String> hints,
    Map<String, String> homes,
    String family) {

  /** Returns the names of the keys that have a meaning here. */
  Set<String> names() {
    return keys.keySet();
  }

  /**
   * Returns the declaration of a key.
   *
   * @throws IllegalArgumentException if it has no meaning here, which is a bug of a reader
   */
  Key key(String name) {
    Key key = keys.get(name);
    if (key == null) {
      throw new IllegalArgumentException("there is no " + name + ' ' + where);
    }
    return key;
  }

  /**
   * Reports each key without a meaning here, with the place where it has one.
   *
   * @return the keys of this place that unknown keys were probably meant to be
   */
  Set<String> check(Fields fields, Problems problems) {
    Set<String> misspelt = new TreeSet<>();
    for (Field field : fields.all()) {
      if (!keys.containsKey(field.name()) && isUnknown(field, problems)) {
        String meant = meant(field);
        misspelt.addAll(meant == null ? Set.of() : Set.of(meant));
      }
    }
    return misspelt;
  }

  /** Returns whether an unknown field was probably meant to be {@code key}. */
  boolean isMisspelt(String key, Fields fields) {
    return fields.all().stream()
        .filter(field -> !PolicyLanguage.declared().keys().contains(field.name()))
        .anyMatch(field -> key.equals(meant(field)));
  }

  /** Reports a key without a meaning here, and returns whether it has none anywhere. */
  private boolean isUnknown(Field field, Problems problems) {
    PolicyLanguage language = PolicyLanguage.declared();
    String name = field.name();
    String key = Wording.quote(name);
    if (!ours && language.original().contains(name)) {
      problems.warning(field.at(), key + " has no effect " + where, home(name));
      checkUnread(field, problems);
    } else if (language.keys().contains(name)) {
      problems.error(field.at(), key + " has no meaning " + where, home(name));
      checkUnread(field, problems);
    } else {
      problems.error(field.at(), "unknown key " + key + ' ' + where, suggestion(field));
      return true;
    }
    return false;
  }

  private String suggestion(Field field) {
    String written = field.name();
    String meant = meant(field);
    String elsewhere =
        meant == null ? Wording.nearest(written, PolicyLanguage.declared().keys()) : null;
    if (elsewhere != null) {
      return "did you mean " + elsewhere + "? " + home(elsewhere);
    }
    return meant == null ? Wording.suggest(written, names()) : "did you mean " + meant + "?";
  }

  /** Returns the key of this place that an unknown one was probably meant to be, or null. */
  private @Nullable String meant(Field field) {
    String nearest = Wording.nearest(field.name(), names());
    if (nearest == null || key(nearest).suits(field.value())) {
      return nearest;
    }
    Set<String> suitable = new TreeSet<>(names());
    suitable.removeIf(name -> !key(name).suits(field.value()));
    String meant = Wording.meant(field.name(), suitable);
    return meant == null ? nearest : meant;
  }

  /** Returns where a key belongs that has no meaning here. */
  private String home(String key) {
    String hint = hints.get(key);
    return hint == null ? PolicyLanguage.declared().home(key, homes, family) : hint;
  }

  /**
   * Checks the keys within a field that has no effect where it stands, at any depth. Its values are
   * not read, but a key that is unknown everywhere is still an error, as in envoyproxy/ratelimit.
   */
  private static void checkUnread(Field field, Problems problems) {
    Key key = PolicyLanguage.declared().anywhere(field.name());
    if (key == null) {
      checkUnread(field.value(), null, problems);
    } else if (!key.attribute("type").equals("free")) {
      String of = key.attribute("of");
      Place place = of.isEmpty() ? null : PolicyLanguage.declared().place(of);
      checkUnread(field.value(), place, problems);
    }
  }

  private static void checkUnread(YamlNode value, @Nullable Place place, Problems problems) {
    if (value instanceof YamlNode.Mapping mapping) {
      for (Field field : Fields.of(mapping, problems).all()) {
        if (!PolicyLanguage.declared().keys().contains(field.name())) {
          reportUnknown(field, place, problems);
        }
        checkUnread(field, problems);
      }
    } else if (value instanceof YamlNode.Sequence sequence) {
      sequence.items().forEach(item -> checkUnread(item, place, problems));
    }
  }

  private static void reportUnknown(Field field, @Nullable Place place, Problems problems) {
    String key = "unknown key " + Wording.quote(field.name());
    if (place != null) {
      String hint = Wording.suggest(field.name(), place.names());
      problems.error(field.at(), key + " " + place.where(), hint);
    } else {
      Set<String> known = PolicyLanguage.declared().keys();
      problems.error(field.at(), key, Wording.suggest(field.name(), known, ""));
    }
  }
}
