package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.WindowText;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Fields.Field;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One mapping of a policy file at its place in the {@link PolicyLanguage}: reads the values of its
 * keys by the types, ranges and defaults declared there, and reports all others.
 */
final class PolicySection {
  private final Fields fields;
  private final Place place;
  private final Problems problems;
  private final Set<String> misspelt;

  /** Creates the section of a mapping, and reports its keys that have no meaning at the place. */
  PolicySection(Fields fields, String place, Problems problems) {
    this.fields = fields;
    this.place = PolicyLanguage.declared().place(place);
    this.problems = problems;
    this.misspelt = this.place.check(fields, problems);
  }

  Problems problems() {
    return problems;
  }

  /** Returns the place of the mapping. */
  SourceLocation location() {
    return fields.location();
  }

  /** Returns the place of a key, or that of the mapping when the key is absent. */
  SourceLocation at(String key) {
    Field field = get(key);
    return field == null ? location() : field.at();
  }

  /** Returns the place of a key's value, or that of the mapping when the key is absent. */
  SourceLocation valueAt(String key) {
    Field field = get(key);
    return field == null ? location() : field.value().location();
  }

  /** Returns the fields, also those without a meaning here. */
  Fields fields() {
    return fields;
  }

  /** Returns the field, or null when it is absent or has no value. */
  @Nullable Field get(String key) {
    return fields.get(place.key(key).name());
  }

  /** Returns the words that the key allows. */
  List<String> words(String key) {
    return place.key(key).words();
  }

  boolean has(String key) {
    return get(key) != null;
  }

  /**
   * Returns whether an absent key may be meant by what could not be read: a misspelt key, or a part
   * of the mapping. Both were reported.
   */
  boolean mayMean(String key) {
    return fields.incomplete() || misspelt.contains(key);
  }

  /** Reports an error in a key's value, or in the mapping when the key is absent. */
  void error(String key, String message, String hint) {
    problems.error(valueAt(key), message, hint);
  }

  /** Reports an error in a key, or in the mapping when the key is absent. */
  void errorAtKey(String key, String message, String hint) {
    problems.error(at(key), message, hint);
  }

  /** Warns of a key's value, or of the mapping when the key is absent. */
  void warning(String key, String message, String hint) {
    problems.warning(valueAt(key), message, hint);
  }

  /** Reads a text; numbers and booleans count as the text they are written as. "" when absent. */
  String text(String key) {
    Field field = get(key);
    return field == null ? "" : text(field);
  }

  /** Does the same for a field whose key is free. */
  String text(Field field) {
    if (!(field.value() instanceof YamlNode.Scalar scalar)) {
      wrongType(field, "text", "");
      return "";
    }
    if (scalar.kind() == ScalarKind.FLOAT) {
      wrongType(field, "text", "quote it: \"" + scalar.text() + "\"");
    }
    return scalar.text();
  }

  /** Returns whether a required text is missing or empty, unless that was reported already. */
  boolean lacks(String key) {
    Field field = get(key);
    return text(key).isEmpty()
        && (field == null ? !mayMean(key) : field.value() instanceof YamlNode.Scalar);
  }

  /** Reads a text, and reports that it is missing or empty as the key's declaration says. */
  String required(String key) {
    if (lacks(key)) {
      Key declared = place.key(key);
      error(key, declared.attribute("missing"), declared.attribute("missing_hint"));
    }
    return text(key);
  }

  /** Reads a boolean; the default when absent, and false after reporting an error. */
  boolean flag(String key) {
    Field field = get(key);
    if (field == null) {
      return place.key(key).attribute("default").equals("true");
    }
    YamlNode.Scalar scalar = field.scalar();
    if (scalar != null && scalar.kind() == ScalarKind.BOOL) {
      return ScalarKind.isTrue(scalar.text());
    }
    wrongType(field, "true or false", field.isQuoted(ScalarKind.BOOL) ? "remove the quotes" : "");
    return false;
  }

  /** Reads a whole number; the default or else 0 when absent, and -1 after reporting an error. */
  long number(String key) {
    Key declared = place.key(key);
    Field field = get(key);
    if (field == null) {
      String value = declared.attribute("default");
      return value.isEmpty() ? 0 : Long.parseLong(value);
    }
    return NumberReader.whole(this, declared, field);
  }

  /** Reads a decimal number; the default when absent, and -1 after reporting an error. */
  double decimal(String key) {
    Key declared = place.key(key);
    Field field = get(key);
    if (field == null) {
      return Double.parseDouble(declared.attribute("default"));
    }
    BigDecimal number = NumberReader.decimal(this, declared, field);
    return number == null ? -1 : number.doubleValue();
  }

  /** Reads a decimal number exactly; the default when absent, and null after reporting an error. */
  @Nullable BigDecimal exact(String key) {
    Field field = get(key);
    return field == null ? new BigDecimal(place.key(key).attribute("default")) : exact(key, field);
  }

  /** Reads the number of a field whose key is free, in the range of {@code key}. */
  @Nullable BigDecimal exact(String key, Field field) {
    return NumberReader.decimal(this, place.key(key), field);
  }

  /** Reads a word in any case; the default when absent, and null after reporting an error. */
  @Nullable String word(String key) {
    return word(key, place.key(key).words());
  }

  /** Does the same; only {@code offered} appear in suggestions. */
  @Nullable String word(String key, List<String> offered) {
    Key declared = place.key(key);
    Field field = get(key);
    if (field == null) {
      return declared.attribute("default");
    }
    String text = text(field);
    String word = text.toLowerCase(Locale.ROOT);
    if (declared.words().contains(word)) {
      return word;
    }
    if (field.isText()) {
      String near = Wording.meant(text, offered);
      String list = String.join(", ", offered);
      error(
          key,
          Wording.quote(text) + " is not a value of " + Wording.quote(key),
          near == null ? "allowed: " + list : "did you mean " + near + "? One of: " + list);
    }
    return null;
  }

  /** Reads a word that names a constant of {@code type}; null after reporting an error. */
  <E extends Enum<E>> @Nullable E constant(String key, Class<E> type) {
    String word = word(key);
    return word == null ? null : Enum.valueOf(type, word.toUpperCase(Locale.ROOT));
  }

  /**
   * Reads a duration in ms; the default or else 0 when absent, and -1 after reporting an error. It
   * is 0 only where the key allows that.
   */
  long millis(String key) {
    Key declared = place.key(key);
    Field field = get(key);
    if (field == null) {
      return WindowText.millis(declared.attribute("default"));
    }
    String text = text(field);
    String zero = declared.attribute("zero");
    long millis = WindowText.millis(text);
    if (millis == 0 && !(WindowText.isZero(text) && !zero.isEmpty())) {
      if (field.isText()) {
        error(
            key,
            Wording.quote(text) + " is not a duration" + (zero.isEmpty() ? " of at least 1ms" : ""),
            WindowText.HINT + (zero.isEmpty() ? "" : "; 0 is " + zero));
      }
      return -1;
    }
    if (BigDecimal.valueOf(millis).compareTo(declared.max()) > 0) {
      error(
          key,
          declared.attribute("too_long").replace("{key}", Wording.quote(key)),
          declared.attribute("hint"));
      return -1;
    }
    return millis;
  }

  /** Reads a mapping at its own place; null when absent, or after reporting an error. */
  @Nullable PolicySection section(String key) {
    YamlNode.Mapping mapping = mapping(key);
    return mapping == null ? null : child(key, mapping);
  }

  /** Does the same; returns a section without keys, whose values are the defaults, for null. */
  PolicySection sectionOrDefaults(String key) {
    PolicySection section = section(key);
    return section != null ? section : empty(key);
  }

  /** Returns a section without keys, whose values are the defaults. */
  PolicySection empty(String key) {
    return child(key, new YamlNode.Mapping(location(), List.of()));
  }

  /** Reads a mapping whose keys are free; null when absent, or after reporting an error. */
  YamlNode.@Nullable Mapping mapping(String key) {
    Field field = get(key);
    if (field == null) {
      return null;
    }
    if (field.value() instanceof YamlNode.Mapping mapping) {
      return mapping;
    }
    wrongType(field, "a mapping", "write its keys on lines of their own, indented");
    return null;
  }

  /** Reads the mappings of a list at their own place; leaves out and reports other items. */
  List<PolicySection> sections(String key) {
    return mappings(key).stream().map(mapping -> child(key, mapping)).toList();
  }

  private PolicySection child(String key, YamlNode.Mapping mapping) {
    return new PolicySection(
        Fields.of(mapping, problems), place.key(key).attribute("of"), problems);
  }

  /** Returns the mappings of a list; leaves out and reports other items. Empty when absent. */
  List<YamlNode.Mapping> mappings(String key) {
    Field field = get(key);
    if (field == null) {
      return List.of();
    }
    if (!(field.value() instanceof YamlNode.Sequence sequence)) {
      wrongType(field, "a list", "begin each entry with a dash: - key: …");
      return List.of();
    }
    List<YamlNode.Mapping> mappings = new ArrayList<>();
    for (YamlNode item : sequence.items()) {
      if (item instanceof YamlNode.Mapping mapping) {
        mappings.add(mapping);
      } else if (!(item instanceof YamlNode.Unreadable)) {
        problems.error(
            item.location(),
            "an entry of %s must be a mapping, but here is %s"
                .formatted(Wording.quote(key), item.describe()),
            key.equals("replaces") ? "write - name: RULE" : "write - key: value");
      }
    }
    return mappings;
  }

  /** Reports that the key has no meaning here, if it is present, and returns whether it is. */
  boolean refuse(String key, String with, String hint) {
    if (has(key)) {
      errorAtKey(key, Wording.quote(key) + " has no meaning with " + with, hint);
    }
    return has(key);
  }

  /**
   * Reports each key that is present but has no meaning with this word of another key, by its
   * declaration, and returns whether there is one.
   *
   * @param word null when it is not known; then, and when {@code other} is probably misspelt,
   *     nothing is reported
   * @param with the word as messages show it
   */
  boolean refuseOthers(String other, @Nullable String word, String with) {
    boolean any = false;
    for (Key key : place.keys().values()) {
      String only = key.attribute("only_" + other);
      if (word != null
          && !mayMean(other)
          && !only.isEmpty()
          && !List.of(only.split(", ")).contains(word)) {
        any |= refuse(key.name(), with, key.attribute("only_hint"));
      }
    }
    return any;
  }

  /** Reports that a number is above that of another key, if it is and both could be read. */
  boolean isAbove(String key, double number, String other, double most) {
    boolean above = number > most && most > 0;
    if (above) {
      String hint = "write a smaller " + key + ", or a larger " + other;
      error(key, place.key(key).attribute("above"), hint);
    }
    return above;
  }

  /** Warns that the key has no effect, if it is present. */
  void ignore(String key, String where, String hint) {
    if (has(key)) {
      problems.warning(at(key), Wording.quote(key) + " has no effect " + where, hint);
    }
  }

  /** Reports that the field holds a value of another type than {@code wanted}. */
  void wrongType(Field field, String wanted, String hint) {
    if (field.value() instanceof YamlNode.Unreadable) {
      return; // reported when it was read
    }
    problems.error(
        field.value().location(),
        "%s must be %s, but here is %s"
            .formatted(Wording.quote(field.name()), wanted, field.value().describe()),
        hint);
  }
}
