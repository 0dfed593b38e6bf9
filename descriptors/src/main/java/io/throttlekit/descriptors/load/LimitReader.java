package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.LimitSpec;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads one limit: requests, window, algorithm and burst. */
final class LimitReader {
  static final String FIXED_WINDOW = "fixed_window";

  private LimitReader() {}

  /** Reads the limit; returns {@code null} after reporting an error. */
  static @Nullable LimitSpec read(PolicySection limit) {
    if (isConcurrency(limit)) {
      return null; // already reported: a concurrency limit does not belong here
    }
    long requests = requests(limit);
    long window = window(limit);
    String algorithm = limit.word("algorithm");
    long burst = limit.has("burst") ? burst(limit, algorithm) : requests;
    if (requests < 0 || window <= 0 || algorithm == null || burst < 0) {
      return null;
    }
    try { // an algorithm checks the bounds of its own parameters
      return new LimitSpec(
          build(algorithm, requests, window, burst), requests, LimitUnit.of(window), window);
    } catch (IllegalArgumentException e) {
      limit.error(
          limit.has("burst") ? "burst" : "requests_per_unit",
          algorithm + " cannot do this: " + e.getMessage(),
          "");
      return null;
    }
  }

  private static boolean isConcurrency(PolicySection limit) {
    return limit.fields().all().stream().anyMatch(field -> field.name().equals("concurrency"))
        && Stream.of("requests_per_unit", "unit", "every").noneMatch(limit::has);
  }

  private static long requests(PolicySection limit) {
    String key = "requests_per_unit";
    if (limit.has(key)) {
      return limit.number(key);
    }
    if (limit.mayMean(key) || mayBeUnlimited(limit)) {
      return -1;
    }
    limit.warning(
        key,
        "`requests_per_unit` is missing, so the limit is 0 and refuses everything",
        "write requests_per_unit: 0 if that is meant");
    return 0;
  }

  private static boolean mayBeUnlimited(PolicySection limit) {
    return limit.mayMean("unlimited");
  }

  /** Returns the length of the window in ms, or at most 0 after reporting an error. */
  private static long window(PolicySection limit) {
    boolean unit = limit.has("unit");
    boolean every = limit.has("every");
    boolean unread = limit.mayMean("unit") || limit.mayMean("every") || mayBeUnlimited(limit);
    if (!unit && !every && !unread) {
      limit.error(
          "unit",
          "the limit needs a window",
          "add unit: " + String.join(", ", limit.words("unit")) + "; or every: 10s");
    }
    LimitUnit named = unit ? limit.constant("unit", LimitUnit.class) : null;
    long millis = limit.millis("every");
    if (unit && every) {
      limit.errorAtKey(
          "every", "`unit` and `every` both set the length of the window", "keep one of them");
      return 0;
    }
    return named == null ? millis : named.millis();
  }

  /** Returns the burst, or -1 after reporting an error. */
  private static long burst(PolicySection limit, @Nullable String algorithm) {
    long burst = limit.number("burst");
    boolean refused = limit.refuseOthers("algorithm", algorithm, String.valueOf(algorithm));
    return burst < 0 || refused ? -1 : burst;
  }

  private static RateAlgorithm<?> build(String algorithm, long requests, long window, long burst) {
    return switch (algorithm) {
      case "sliding_window" -> new SlidingWindow(requests, window);
      case "sliding_log" -> new SlidingLog(requests, window);
      case "gcra" -> new Gcra(requests, window, burst);
      case "token_bucket" -> new TokenBucket(requests, window, burst);
      default -> new FixedWindow(requests, window);
    };
  }
}
