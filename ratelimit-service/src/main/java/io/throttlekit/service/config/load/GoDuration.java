package io.throttlekit.service.config.load;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations in Go's syntax: decimal numbers with units, in any order. */
final class GoDuration {

  // Digits are bounded, so that parsing is cheap; both code points of µ are allowed, as in Go.
  private static final Pattern PART =
      Pattern.compile("([0-9]{1,18}(?:\\.[0-9]{0,18})?|\\.[0-9]{1,18})(ns|us|µs|μs|ms|s|m|h)");
  private static final BigDecimal MAX_NANOS = BigDecimal.valueOf(Long.MAX_VALUE);

  private GoDuration() {}

  /** Returns the duration, or null when the text is invalid, negative or longer than 292 years. */
  static @Nullable Duration parse(String text) {
    String unsigned = text.startsWith("+") ? text.substring(1) : text;
    if (unsigned.equals("0")) {
      return Duration.ZERO;
    }
    Matcher part = PART.matcher(unsigned);
    BigDecimal nanos = BigDecimal.ZERO;
    int end = 0;
    // At most 40 characters a part, and only adjacent parts.
    while (part.find() && part.start() == end && part.end() - part.start() <= 40) {
      nanos =
          nanos.add(
              new BigDecimal(part.group(1))
                  .multiply(BigDecimal.valueOf(nanosOf(String.valueOf(part.group(2))))));
      end = part.end();
    }
    if (end == 0 || end != unsigned.length() || nanos.compareTo(MAX_NANOS) > 0) {
      return null;
    }
    return Duration.ofNanos(nanos.longValue());
  }

  /** Returns the shortest common text; {@link #parse} reads it back. */
  static String format(Duration duration) {
    if (duration.isZero()) {
      return "0s";
    }
    StringBuilder text = new StringBuilder();
    append(text, duration.toHours(), "h");
    append(text, duration.toMinutesPart(), "m");
    append(text, duration.toSecondsPart(), "s");
    append(text, duration.toMillisPart(), "ms");
    append(text, duration.toNanosPart() % 1_000_000, "ns");
    return text.toString();
  }

  private static void append(StringBuilder text, long count, String unit) {
    if (count > 0) {
      text.append(count).append(unit);
    }
  }

  private static long nanosOf(String unit) {
    return switch (unit) {
      case "ns" -> 1;
      case "us", "µs", "μs" -> 1_000;
      case "ms" -> 1_000_000;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      default -> 3_600_000_000_000L;
    };
  }
}
