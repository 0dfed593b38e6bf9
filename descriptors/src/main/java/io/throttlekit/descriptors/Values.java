package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the values of fields as a given type, and reports values of another type. */
final class Values {
  // At most 18 digits on each side: parsing a longer BigDecimal is slow, and no setting needs it.
  private static final Pattern DECIMALS =
      Pattern.compile("(?:0|[1-9][0-9]{0,17})(?:\\.[0-9]{0,18})?");

  private final Problems problems;

  Values(Problems problems) {
    this.problems = problems;
  }

  /** Reads a text; numbers and booleans count as the text they are written as. "" when absent. */
  String text(@Nullable Field field) {
    if (field == null) {
      return "";
    }
    if (!(field.value() instanceof YamlNode.Scalar scalar)) {
      wrongType(field, "text", "");
      return "";
    }
    if (scalar.kind() == ScalarKind.FLOAT) {
      wrongType(field, "text", "quote it: \"" + scalar.text() + "\"");
    }
    return scalar.text();
  }

  /** Reads a boolean; false when absent. */
  boolean flag(@Nullable Field field) {
    if (field == null) {
      return false;
    }
    if (field.value() instanceof YamlNode.Scalar scalar) {
      if (scalar.kind() == ScalarKind.BOOL) {
        return ScalarKind.isTrue(scalar.text());
      }
      boolean quoted = ScalarKind.ofPlain(scalar.text()) == ScalarKind.BOOL;
      wrongType(field, "true or false", quoted ? "remove the quotes" : "");
    } else {
      wrongType(field, "true or false", "");
    }
    return false;
  }

  /** Reads a whole number from 0 to {@code max}; -1 after reporting an error. */
  long number(Field field, long max) {
    return number(field, 0, max);
  }

  /**
   * Reads a whole number from {@code min}, at least 0, to {@code max}; -1 after reporting an error.
   */
  long number(Field field, long min, long max) {
    return number(field, min, max, "");
  }

  /** Does the same; {@code hint} names alternatives to a number out of range. */
  long number(Field field, long min, long max, String hint) {
    String wanted = "a whole number from " + min + " to " + max;
    if (!(field.value() instanceof YamlNode.Scalar scalar)) {
      wrongType(field, wanted, "");
      return -1;
    }
    if (scalar.kind() != ScalarKind.INTEGER) {
      boolean quoted =
          scalar.kind() == ScalarKind.TEXT
              && ScalarKind.ofPlain(scalar.text()) == ScalarKind.INTEGER;
      wrongType(
          field, wanted, quoted ? "remove the quotes" : ScalarKind.decimalHint(scalar.text()));
      return -1;
    }
    warnOfOctal(field, scalar);
    BigInteger number = ScalarKind.integer(scalar.text());
    if (number == null
        || number.compareTo(BigInteger.valueOf(min)) < 0
        || number.compareTo(BigInteger.valueOf(max)) > 0) {
      outOfRange(field, scalar, min + " to " + max, hint);
      return -1;
    }
    return number.longValue();
  }

  /** Reads a decimal number from {@code min} to {@code max}; -1 after reporting an error. */
  double decimal(Field field, String min, String max) {
    String wanted = "a number from " + min + " to " + max;
    if (!(field.value() instanceof YamlNode.Scalar scalar)
        || !(scalar.kind() == ScalarKind.INTEGER || scalar.kind() == ScalarKind.FLOAT)) {
      boolean quoted =
          field.value() instanceof YamlNode.Scalar text
              && text.kind() == ScalarKind.TEXT
              && DECIMALS.matcher(text.text()).matches();
      wrongType(field, wanted, quoted ? "remove the quotes" : "");
      return -1;
    }
    if (!DECIMALS.matcher(scalar.text()).matches()) {
      wrongType(field, wanted, "write it in digits, as 2 or 2.5");
      return -1;
    }
    BigDecimal number = new BigDecimal(scalar.text());
    if (number.compareTo(new BigDecimal(min)) < 0 || number.compareTo(new BigDecimal(max)) > 0) {
      outOfRange(field, scalar, min + " to " + max, "");
      return -1;
    }
    return number.doubleValue();
  }

  private void outOfRange(Field field, YamlNode.Scalar scalar, String range, String hint) {
    problems.error(
        scalar.location(),
        Wording.quote(field.name())
            + " is out of range: "
            + Wording.quote(scalar.text())
            + " is not from "
            + range,
        hint);
  }

  /**
   * Warns of a leading zero, which means octal in YAML 1.1 and Go, and decimal in most other
   * readers.
   */
  private void warnOfOctal(Field field, YamlNode.Scalar scalar) {
    BigInteger octal = ScalarKind.integer(scalar.text());
    BigInteger decimal = ScalarKind.octalAsDecimal(scalar.text());
    if (octal != null && decimal != null && !octal.equals(decimal)) {
      problems.warning(
          scalar.location(),
          "%s of %s counts as %d: a leading zero makes it octal in YAML 1.1, as envoyproxy/ratelimit"
                  .formatted(Wording.quote(scalar.text()), Wording.quote(field.name()), octal)
              + " reads it; in YAML 1.2 it is "
              + decimal,
          "write " + octal + " or " + decimal);
    }
  }

  /** Reads one of {@code allowed}, in any case; {@code null} after reporting an error. */
  @Nullable String choice(Field field, List<String> allowed) {
    return choice(field, allowed, allowed);
  }

  /** Does the same; only {@code offered} appear in suggestions. */
  @Nullable String choice(Field field, List<String> allowed, List<String> offered) {
    String text = text(field);
    for (String word : allowed) {
      if (word.equals(text.toLowerCase(Locale.ROOT))) {
        return word;
      }
    }
    // Of other types, text() has reported an error already.
    if (field.value() instanceof YamlNode.Scalar scalar && scalar.kind() != ScalarKind.FLOAT) {
      String near = Wording.meant(text, offered);
      String list = String.join(", ", offered);
      problems.error(
          scalar.location(),
          Wording.quote(text) + " is not a value of " + Wording.quote(field.name()),
          near == null ? "allowed: " + list : "did you mean " + near + "? One of: " + list);
    }
    return null;
  }

  /**
   * Returns the mapping that the field holds; {@code null} when absent, or after reporting an
   * error.
   */
  YamlNode.@Nullable Mapping mapping(@Nullable Field field) {
    if (field == null) {
      return null;
    }
    if (field.value() instanceof YamlNode.Mapping mapping) {
      return mapping;
    }
    wrongType(field, "a mapping", "write its keys on lines of their own, indented");
    return null;
  }

  /** Returns the mappings of a list; reports items of other types. Empty when absent. */
  List<YamlNode.Mapping> mappings(@Nullable Field field) {
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
            "an entry of "
                + Wording.quote(field.name())
                + " must be a mapping, but here is "
                + item.describe(),
            field.name().equals("replaces") ? "write - name: RULE" : "write - key: value");
      }
    }
    return mappings;
  }

  /** Reports that the field holds a value of another type than {@code wanted}. */
  void wrongType(Field field, String wanted, String hint) {
    if (field.value() instanceof YamlNode.Unreadable) {
      return; // reported when it was read
    }
    problems.error(
        field.value().location(),
        Wording.quote(field.name())
            + " must be "
            + wanted
            + ", but here is "
            + field.value().describe(),
        hint);
  }
}
