package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.source.Fields.Field;
import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** Reads numbers in the range that their key declares. */
final class NumberReader {
  private NumberReader() {}

  /** Reads a whole number; returns -1 after reporting an error. */
  static long whole(PolicySection section, Key declared, Field field) {
    YamlNode.Scalar scalar = field.scalar();
    if (scalar == null || scalar.kind() != ScalarKind.INTEGER) {
      String hint = scalar == null ? "" : ScalarKind.decimalHint(scalar.text());
      section.wrongType(
          field,
          "a whole number from " + declared.range(),
          field.isQuoted(ScalarKind.INTEGER) ? "remove the quotes" : hint);
      return -1;
    }
    warnOfOctal(section, field, scalar);
    BigInteger number = ScalarKind.integer(scalar.text());
    if (number == null || !declared.allows(new BigDecimal(number))) {
      outOfRange(section, declared, field, scalar);
      return -1;
    }
    return number.longValue();
  }

  /** Reads a decimal number exactly; returns null after reporting an error. */
  static @Nullable BigDecimal decimal(PolicySection section, Key declared, Field field) {
    String wanted = "a number from " + declared.range();
    YamlNode.Scalar scalar = field.scalar();
    boolean digits = scalar != null && ScalarKind.isDecimal(scalar.text());
    if (scalar == null
        || !(scalar.kind() == ScalarKind.INTEGER || scalar.kind() == ScalarKind.FLOAT)) {
      section.wrongType(field, wanted, digits ? "remove the quotes" : "");
      return null;
    }
    if (!digits) {
      section.wrongType(field, wanted, "write it in digits, as 2 or 2.5");
      return null;
    }
    BigDecimal number = new BigDecimal(scalar.text());
    if (!declared.allows(number)) {
      outOfRange(section, declared, field, scalar);
      return null;
    }
    String places = declared.attribute("decimals");
    if (!places.isEmpty() && number.stripTrailingZeros().scale() > Integer.parseInt(places)) {
      section
          .problems()
          .error(
              scalar.location(),
              "%s has more than %s decimals: %s"
                  .formatted(Wording.quote(field.name()), places, Wording.quote(scalar.text())),
              "round it");
      return null;
    }
    return number;
  }

  private static void outOfRange(
      PolicySection section, Key declared, Field field, YamlNode.Scalar scalar) {
    section
        .problems()
        .error(
            scalar.location(),
            "%s is out of range: %s is not from %s"
                .formatted(
                    Wording.quote(field.name()), Wording.quote(scalar.text()), declared.range()),
            declared.attribute("hint"));
  }

  /**
   * Warns of a leading zero, which means octal in YAML 1.1 and Go, and decimal in most other
   * readers.
   */
  private static void warnOfOctal(PolicySection section, Field field, YamlNode.Scalar scalar) {
    BigInteger octal = ScalarKind.integer(scalar.text());
    BigInteger decimal = ScalarKind.octalAsDecimal(scalar.text());
    if (octal != null && decimal != null && !octal.equals(decimal)) {
      section
          .problems()
          .warning(
              scalar.location(),
              ("%s of %s counts as %d: a leading zero makes it octal in YAML 1.1, as"
                      + " envoyproxy/ratelimit reads it; in YAML 1.2 it is %d")
                  .formatted(
                      Wording.quote(scalar.text()), Wording.quote(field.name()), octal, decimal),
              "write " + octal + " or " + decimal);
    }
  }
}
