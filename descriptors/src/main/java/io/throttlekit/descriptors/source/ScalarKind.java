package io.throttlekit.descriptors.source;

import java.math.BigInteger;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Type of an unquoted scalar, decided as by the YAML 1.1 library gopkg.in/yaml.v2, for which
 * existing policy files were written.
 */
public enum ScalarKind {
  NULL("nothing"),
  BOOL("the boolean"),
  INTEGER("the number"),
  FLOAT("the number"),
  /** An unquoted {@code <<}: as a key it merges mappings, anywhere else it is text. */
  MERGE("the text"),
  TEXT("the text");

  private static final Set<String> NULLS = Set.of("", "~", "null", "Null", "NULL");
  private static final Set<String> TRUE =
      Set.of("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON");
  private static final Set<String> FALSE =
      Set.of("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF");
  // As yaml.v2 reads them, after underscores were removed.
  private static final Pattern INTEGERS =
      Pattern.compile("[-+]?(?:0|[1-9][0-9]*|0[oO]?[0-7]+|0[xX][0-9a-fA-F]+|0[bB][01]+)");
  private static final Pattern FLOATS =
      Pattern.compile(
          "[-+]?(?:\\.[0-9]+|[0-9]+(?:\\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
              + "|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)");

  // At most 18 digits on each side: parsing a longer BigDecimal is slow, and no setting needs it.
  private static final Pattern DECIMALS =
      Pattern.compile("(?:0|[1-9][0-9]{0,17})(?:\\.[0-9]{0,18})?");

  // Bounded, because the text becomes a BigInteger in time that grows with the square.
  private static final Pattern LEADING_ZERO = Pattern.compile("[-+]?0[0-9]{1,40}");

  private final String description;

  ScalarKind(String description) {
    this.description = description;
  }

  String describe() {
    return description;
  }

  /** Returns the kind of an unquoted scalar. */
  public static ScalarKind ofPlain(String text) {
    if (NULLS.contains(text)) {
      return NULL;
    }
    if (TRUE.contains(text) || FALSE.contains(text)) {
      return BOOL;
    }
    if (text.equals("<<")) {
      return MERGE;
    }
    // As yaml.v2 does: only these characters begin a number.
    char first = text.charAt(0);
    if (first != '.' && first != '-' && first != '+' && (first < '0' || first > '9')) {
      return TEXT;
    }
    if (INTEGERS.matcher(text.replace("_", "")).matches()) {
      return INTEGER;
    }
    return FLOATS.matcher(text.replace("_", "")).matches() ? FLOAT : TEXT;
  }

  /** Returns the decimal value of a number with a leading zero; {@code null} for any other text. */
  public static @Nullable BigInteger octalAsDecimal(String text) {
    String digits = text.replace("_", "");
    return LEADING_ZERO.matcher(digits).matches() ? new BigInteger(digits) : null;
  }

  /** Returns a hint for a number that its leading zero makes invalid as octal, or "". */
  public static String decimalHint(String text) {
    BigInteger decimal = octalAsDecimal(text);
    return decimal == null || ofPlain(text) != FLOAT
        ? ""
        : "a leading zero makes it octal, which has no 8 and no 9: write " + decimal;
  }

  /** Returns whether the text is a number from 0 in decimal digits, short enough to be parsed. */
  public static boolean isDecimal(String text) {
    return DECIMALS.matcher(text).matches();
  }

  /** Returns the value of a {@link #BOOL}. */
  public static boolean isTrue(String text) {
    return TRUE.contains(text);
  }

  /**
   * Returns the value of an {@link #INTEGER}; {@code null} when it is far beyond every valid range.
   */
  public static @Nullable BigInteger integer(String text) {
    String digits = text.replace("_", "").toLowerCase(Locale.ROOT);
    boolean negative = digits.startsWith("-");
    digits = negative || digits.startsWith("+") ? digits.substring(1) : digits;
    int radix = 10;
    if (digits.startsWith("0x")) {
      radix = 16;
    } else if (digits.startsWith("0b")) {
      radix = 2;
    } else if (digits.startsWith("0") && digits.length() > 1) {
      radix = 8;
    }
    digits = digits.replaceFirst("^0[xbo]", "");
    if (digits.length() > 100) { // parsing takes time that grows with the square of the digits
      return null;
    }
    BigInteger value = new BigInteger(digits, radix);
    return negative ? value.negate() : value;
  }
}
