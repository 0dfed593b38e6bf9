package io.throttlekit.service.telemetry.statsd;

import io.throttlekit.service.config.StatsdConfig;
import io.throttlekit.service.config.StatsdConfig.Format;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.service.telemetry.statsd.NameRewriter.Rewritten;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The lines of the next transfer: what counters have counted since the last one that succeeded, and
 * the present values of gauges. Keeps one number for each counter. Not thread-safe.
 */
final class StatsdReport {
  private static final double NANOS_PER_MILLI = 1e6;

  private final StatsdSource source;
  private final NameRewriter rewriter;
  private final String nameSuffix;
  private final SortedMap<String, String> tags;
  private Map<String, Long> sent = Map.of();
  private Map<String, Long> sending = Map.of();

  StatsdReport(StatsdSource source, StatsdConfig config) {
    boolean dog = config.format() == Format.DOGSTATSD;
    this.source = source;
    this.rewriter = new NameRewriter(dog ? config.rewrites() : List.of());
    this.nameSuffix = dog ? "" : inName(config.tags());
    this.tags = dog ? config.tags() : new TreeMap<>();
  }

  /** Returns the lines, without line breaks. */
  List<String> lines(TimerSamples.Batch times) {
    Map<String, Long> totals = new HashMap<>();
    List<String> lines = new ArrayList<>();
    source.read(
        new StatsdSource.Reader() {
          @Override
          public void counter(String name, long total) {
            totals.put(name, total);
            long before = sent.getOrDefault(name, 0L);
            long counted = total < before ? total : total - before; // it may begin again with 0
            if (counted > 0) {
              lines.add(line(name, Long.toString(counted), "c"));
            }
          }

          @Override
          public void gauge(String name, long value) {
            lines.add(line(name, Long.toString(value), "g"));
          }
        });
    sending = totals;
    String sampled =
        times.rate() < 1 ? "|@" + String.format(Locale.ROOT, "%.6f", times.rate()) : "";
    for (long nanos : times.nanos()) {
      String millis = String.format(Locale.ROOT, "%.3f", nanos / NANOS_PER_MILLI);
      lines.add(line(StatsdSource.RESPONSE_TIME, millis, "ms" + sampled));
    }
    return lines;
  }

  /** Notes that the last lines were sent. */
  void succeeded() {
    sent = sending;
  }

  private String line(String name, String value, String type) {
    Rewritten rewritten = rewriter.rewrite(plain(name));
    List<String> pairs = new ArrayList<>();
    tags.forEach((tag, its) -> pairs.add(tag + ":" + its));
    // Parts of requests must not add a tag.
    rewritten.tags().forEach((tag, its) -> pairs.add(tag + ":" + its.replace(',', '_')));
    String afterValue = pairs.isEmpty() ? "" : "|#" + String.join(",", pairs);
    return rewritten.name() + nameSuffix + ":" + value + "|" + type + afterValue;
  }

  /** Replaces what would end the name or the line: parts of names come from requests. */
  private static String plain(String name) {
    return PrintableText.of(name).replace(':', '_').replace('|', '_');
  }

  private static String inName(SortedMap<String, String> tags) {
    return tags.entrySet().stream()
        .map(tag -> ".__" + tag.getKey() + "=" + tag.getValue().replaceAll("[.:|]", "_"))
        .collect(Collectors.joining());
  }
}
