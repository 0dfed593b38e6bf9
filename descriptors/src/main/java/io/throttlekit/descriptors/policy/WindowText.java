package io.throttlekit.descriptors.policy;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as policies write them: {@code 10s}, {@code 1m30s}, {@code 250ms}. */
public final class WindowText {
  // At most 12 digits a part, so that each fits a long.
  private static final Pattern FORM =
      Pattern.compile(
          "(?:(\\d{1,12})d)?(?:(\\d{1,12})h)?(?:(\\d{1,12})m)?(?:(\\d{1,12})s)?(?:(\\d{1,12})ms)?");
  private static final long[] MILLIS = {86_400_000, 3_600_000, 60_000, 1_000, 1};

  private static final String[] UNITS = {"d", "h", "m", "s", "ms"};
  private static final Pattern ZERO = Pattern.compile("0{1,12}(?:d|h|m|s|ms)?");

  /** Hint on the format. */
  public static final String HINT = "write a number and a unit, as 250ms, 10s, 1m30s, 12h or 7d";

  private WindowText() {}

  /** Returns the shortest text of {@code millis}, at least 1: {@code 1m30s}. */
  public static String of(long millis) {
    StringBuilder text = new StringBuilder();
    long left = millis;
    for (int i = 0; i < MILLIS.length; i++) {
      if (left >= MILLIS[i]) {
        text.append(left / MILLIS[i]).append(UNITS[i]);
        left %= MILLIS[i];
      }
    }
    return text.toString();
  }

  /** Returns whether the text is a zero duration: {@code 0} or {@code 0s}. */
  public static boolean isZero(String text) {
    return ZERO.matcher(text.toLowerCase(Locale.ROOT)).matches();
  }

  /** Returns milliseconds; 0 when the text is not a duration of at least 1 ms. */
  public static long millis(String text) {
    Matcher parts = FORM.matcher(text.toLowerCase(Locale.ROOT));
    if (!parts.matches()) {
      return 0;
    }
    long millis = 0;
    for (int i = 0; i < MILLIS.length; i++) {
      String number = parts.group(i + 1);
      // 10^12 days are 8.64e19 ms and do not fit a long: saturate instead of overflowing.
      long part = number == null ? 0 : Long.parseLong(number);
      if (part > (Long.MAX_VALUE - millis) / MILLIS[i]) {
        return Long.MAX_VALUE;
      }
      millis += part * MILLIS[i];
    }
    return millis;
  }
}
