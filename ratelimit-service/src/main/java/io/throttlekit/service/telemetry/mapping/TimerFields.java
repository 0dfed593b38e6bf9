package io.throttlekit.service.telemetry.mapping;

import io.throttlekit.service.telemetry.mapping.TimerShape.OfBuckets;
import io.throttlekit.service.telemetry.mapping.TimerShape.OfQuantiles;
import io.throttlekit.service.telemetry.mapping.TimerShape.OfQuantiles.Quantile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the defaults or a mapping say about timers.
 *
 * @param type {@code histogram}, {@code summary}, or null where it does not say
 * @param buckets null where it does not say
 * @param quantiles null where it does not say
 */
record TimerFields(
    @Nullable String type, @Nullable OfBuckets buckets, @Nullable OfQuantiles quantiles) {

  /** Names of the fields, older ones among them. */
  static final Set<String> NAMES =
      Set.of(
          "observer_type",
          "timer_type",
          "buckets",
          "quantiles",
          "histogram_options",
          "summary_options");

  private static final int MAX_BUCKETS = 200;
  private static final int MAX_QUANTILES = 20;
  private static final List<String> TYPES = List.of("", "histogram", "summary");

  /** Reads the fields of the defaults or of a mapping. */
  static TimerFields of(Fields fields) throws MappingSyntaxException {
    String type = fields.word("observer_type", TYPES);
    if (type.isEmpty()) {
      type = fields.word("timer_type", TYPES);
    }
    Fields histogram = Fields.of(fields.get("histogram_options"), "histogram_options");
    Fields summary = Fields.of(fields.get("summary_options"), "summary_options");
    return new TimerFields(
        type.isEmpty() ? null : type,
        buckets(histogram.has("buckets") ? histogram : fields),
        quantiles(summary.has("quantiles") ? summary : fields));
  }

  /** Returns the shape, with the defaults of the file for what is not said here. */
  TimerShape shape(TimerFields defaults) {
    String shown = type == null ? defaults.type : type;
    if ("histogram".equals(shown)) {
      OfBuckets known = buckets == null ? defaults.buckets : buckets;
      return known == null ? TimerShape.HISTOGRAM : known;
    }
    OfQuantiles known = quantiles == null ? defaults.quantiles : quantiles;
    return known == null ? TimerShape.SUMMARY : known;
  }

  private static @Nullable OfBuckets buckets(Fields fields) throws MappingSyntaxException {
    List<Double> bounds = fields.numbers("buckets");
    if (bounds == null || bounds.isEmpty()) {
      return null;
    }
    for (int i = 1; i < bounds.size(); i++) {
      if (bounds.get(i) <= bounds.get(i - 1)) {
        throw new MappingSyntaxException("buckets have to be in ascending order");
      }
    }
    if (bounds.size() > MAX_BUCKETS) {
      throw new MappingSyntaxException("there are more than " + MAX_BUCKETS + " buckets");
    }
    return new OfBuckets(List.copyOf(bounds));
  }

  private static @Nullable OfQuantiles quantiles(Fields fields) throws MappingSyntaxException {
    Object node = fields.get("quantiles");
    if (node == null) {
      return null;
    }
    if (!(node instanceof List<?> list) || list.size() > MAX_QUANTILES) {
      throw new MappingSyntaxException(
          "quantiles has to be a list of at most " + MAX_QUANTILES + " quantiles");
    }
    List<Quantile> quantiles = new ArrayList<>();
    for (Object item : list) {
      Fields quantile = Fields.of(item, "a quantile");
      double share = quantile.number("quantile", -1);
      double error = quantile.number("error", 0);
      if (share < 0 || share > 1 || error < 0 || error > 1) {
        throw new MappingSyntaxException("a quantile and its error have to be from 0 to 1");
      }
      quantiles.add(new Quantile(share, error));
    }
    return quantiles.isEmpty() ? null : new OfQuantiles(List.copyOf(quantiles));
  }
}
