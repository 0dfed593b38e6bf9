package io.throttlekit.descriptors;

import io.throttlekit.Cost;
import io.throttlekit.descriptors.Fields.Field;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads one limit: requests, window, algorithm and burst. */
final class LimitReader {
  // The range of a uint32, as in Envoy's protocol.
  private static final long MAX_REQUESTS = 4_294_967_295L;
  static final String FIXED_WINDOW = "fixed_window";
  static final List<String> ALGORITHMS =
      List.of(FIXED_WINDOW, "sliding_window", "sliding_log", "gcra", "token_bucket");
  private static final List<String> BURSTY = List.of("gcra", "token_bucket");
  private static final List<String> UNITS =
      Arrays.stream(LimitUnit.values()).map(unit -> unit.name().toLowerCase(Locale.ROOT)).toList();

  private final Problems problems;
  private final Values values;

  LimitReader(Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
  }

  /** Reads the limit; returns {@code null} after reporting an error. */
  @Nullable LimitSpec read(Fields fields) {
    if (isConcurrency(fields)) {
      return null; // already reported: a concurrency limit does not belong here
    }
    long requests = requests(fields);
    long window = window(fields);
    String algorithm = algorithm(fields);
    long burst = burst(fields, algorithm);
    if (requests < 0 || window <= 0 || algorithm == null || burst < -1) {
      return null;
    }
    try { // an algorithm checks the bounds of its own parameters
      return new LimitSpec(
          build(algorithm, requests, window, burst), requests, unitOf(window), window);
    } catch (IllegalArgumentException e) {
      Field blamed = fields.get(burst >= 0 ? "burst" : "requests_per_unit");
      problems.error(
          blamed == null ? fields.location() : blamed.value().location(),
          algorithm + " cannot do this: " + e.getMessage(),
          "");
      return null;
    }
  }

  /** Returns whether the unit is one that envoyproxy/ratelimit knows. */
  static boolean isUnit(String text) {
    return UNITS.contains(text.toLowerCase(Locale.ROOT));
  }

  private static boolean isConcurrency(Fields fields) {
    return fields.all().stream().anyMatch(field -> field.name().equals("concurrency"))
        && Stream.of("requests_per_unit", "unit", "every").allMatch(key -> fields.get(key) == null);
  }

  private long requests(Fields fields) {
    Field field = fields.get("requests_per_unit");
    if (field == null && fields.incomplete()) {
      return -1;
    }
    if (field == null) {
      if (isMistyped(fields, "requests_per_unit")) {
        return 0; // already reported as an unknown key
      }
      problems.warning(
          fields.location(),
          "`requests_per_unit` is missing, so the limit is 0 and refuses everything",
          "write requests_per_unit: 0 if that is meant");
      return 0;
    }
    return values.number(field, MAX_REQUESTS);
  }

  private static boolean isMistyped(Fields fields, String key) {
    return fields.all().stream()
        .map(Field::name)
        .anyMatch(name -> !name.equals(key) && Wording.nearest(name, List.of(key)) != null);
  }

  private long window(Fields fields) {
    Field unit = fields.get("unit");
    Field every = fields.get("every");
    if (unit == null && every == null && fields.incomplete()) {
      return 0;
    }
    if (unit == null && every == null) {
      problems.error(
          fields.location(),
          "the limit does not say how long its window is",
          "add unit: " + String.join(", ", UNITS) + "; or every: 10s");
      return 0;
    }
    long ofUnit = unit == null ? 0 : unit(unit);
    long ofEvery = every == null ? 0 : every(every);
    if (unit != null && every != null) {
      problems.error(
          every.at(), "`unit` and `every` both say how long the window is", "keep one of them");
      return 0;
    }
    return ofUnit + ofEvery; // one of them is 0
  }

  private long unit(Field unit) {
    String name = values.choice(unit, UNITS);
    return name == null ? 0 : LimitUnit.valueOf(name.toUpperCase(Locale.ROOT)).millis();
  }

  private long every(Field every) {
    String text = values.text(every);
    long millis = WindowText.millis(text);
    // Of other types, values.text() has reported an error already.
    boolean scalar =
        every.value() instanceof YamlNode.Scalar node && node.kind() != ScalarKind.FLOAT;
    if (millis == 0 && scalar) {
      problems.error(
          every.value().location(),
          Wording.quote(text) + " is not a duration of at least 1ms",
          WindowText.HINT);
    }
    if (millis > Cost.MAX) {
      problems.error(every.value().location(), "the window is longer than time is counted", "");
      return 0;
    }
    return millis;
  }

  private @Nullable String algorithm(Fields fields) {
    Field field = fields.get("algorithm");
    return field == null ? FIXED_WINDOW : values.choice(field, ALGORITHMS);
  }

  /** Returns the burst, -1 when absent, or -2 after reporting an error. */
  private long burst(Fields fields, @Nullable String algorithm) {
    Field field = fields.get("burst");
    if (field == null) {
      return -1;
    }
    long burst = values.number(field, Cost.MAX);
    if (algorithm != null && !BURSTY.contains(algorithm)) {
      problems.error(
          field.at(),
          "`burst` has no meaning with " + algorithm,
          "add algorithm: gcra or algorithm: token_bucket, or remove it");
      return -2;
    }
    return burst < 0 ? -2 : burst;
  }

  private static RateAlgorithm<?> build(String algorithm, long requests, long window, long burst) {
    return switch (algorithm) {
      case "sliding_window" -> new SlidingWindow(requests, window);
      case "sliding_log" -> new SlidingLog(requests, window);
      case "gcra" -> burst < 0 ? new Gcra(requests, window) : new Gcra(requests, window, burst);
      case "token_bucket" ->
          burst < 0 ? new TokenBucket(requests, window) : new TokenBucket(requests, window, burst);
      default -> new FixedWindow(requests, window);
    };
  }

  private static @Nullable LimitUnit unitOf(long window) {
    for (LimitUnit unit : LimitUnit.values()) {
      if (unit.millis() == window) {
        return unit;
      }
    }
    return null;
  }
}
