package io.throttlekit.service.telemetry.statsd;

import io.throttlekit.service.config.StatsdConfig.Format;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * The lines of the next transfer: what counters have counted since the last one that succeeded, and
 * the present values of gauges. Keeps one number for each counter. Not thread-safe.
 */
final class StatsdReport {
  private static final double NANOS_PER_MILLI = 1e6;

  private final StatsdSource source;
  private final String nameSuffix;
  private final String lineSuffix;
  private Map<String, Long> sent = Map.of();
  private Map<String, Long> sending = Map.of();

  StatsdReport(StatsdSource source, Format format, SortedMap<String, String> tags) {
    this.source = source;
    this.nameSuffix = format == Format.STATSD ? inName(tags) : "";
    this.lineSuffix = format == Format.DOGSTATSD ? afterValue(tags) : "";
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
    return plain(name) + nameSuffix + ":" + value + "|" + type + lineSuffix;
  }

  /** Replaces what would end the name or the line: parts of names come from requests. */
  private static String plain(String name) {
    StringBuilder plain = new StringBuilder(name.length());
    name.chars()
        .map(c -> Character.isISOControl(c) || c == ':' || c == '|' ? '_' : c)
        .forEach(c -> plain.append((char) c));
    return plain.toString();
  }

  private static String inName(SortedMap<String, String> tags) {
    return tags.entrySet().stream()
        .map(tag -> ".__" + tag.getKey() + "=" + tag.getValue().replaceAll("[.:|]", "_"))
        .collect(Collectors.joining());
  }

  private static String afterValue(SortedMap<String, String> tags) {
    return tags.isEmpty()
        ? ""
        : tags.entrySet().stream()
            .map(tag -> tag.getKey() + ":" + tag.getValue())
            .collect(Collectors.joining(",", "|#", ""));
  }
}
