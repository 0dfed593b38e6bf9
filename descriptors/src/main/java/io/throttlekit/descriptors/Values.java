package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the values of fields as what they must be, and reports those that are not. */
final class Values {
  private static final Pattern DECIMALS =
      Pattern.compile("(?:0|[1-9][0-9]{0,17})(?:\\.[0-9]{0,18})?");

  private final Problems problems;

  Values(Problems problems) {
    this.problems = problems;
  }

  /** Text; numbers and booleans count as the text they are written as. "" when absent. */
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

  /** A boolean; false when absent. */
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

  /** A whole number from 0 to {@code max}; -1 after reporting that it is none. */
  long number(Field field, long max) {
    return number(field, 0, max);
  }

  /** A whole number from {@code min}, at least 0, to {@code max}; -1 after reporting. */
  long number(Field field, long min, long max) {
    return number(field, min, max, "");
  }

  /** The same, where {@code hint} says what may stand in place of a number out of range. */
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

  /** A decimal number from {@code min} to {@code max}; -1 after reporting that it is none. */
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

  /** What begins with a zero is octal to YAML 1.1 and to Go, and decimal to most other readers. */
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

  /** One of {@code allowed}, in their case or any other; {@code null} after reporting. */
  @Nullable String choice(Field field, List<String> allowed) {
    return choice(field, allowed, allowed);
  }

  /** The same, where only {@code offered} is worth a suggestion. */
  @Nullable String choice(Field field, List<String> allowed, List<String> offered) {
    String text = text(field);
    for (String word : allowed) {
      if (word.equals(text.toLowerCase(Locale.ROOT))) {
        return word;
      }
    }
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

  /** The mapping that the field holds; {@code null} when absent, or after reporting. */
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

  /** The mappings of a list; what is none of them is reported. Empty when absent. */
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

  /** Reports that the field holds something else than it must. */
  void wrongType(Field field, String wanted, String hint) {
    if (field.value() instanceof YamlNode.Unreadable) {
      return;
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
