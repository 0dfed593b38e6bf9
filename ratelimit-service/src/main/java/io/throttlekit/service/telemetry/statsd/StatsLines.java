package io.throttlekit.service.telemetry.statsd;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Statistics as text for operators. */
public final class StatsLines {
  private StatsLines() {}

  /** Returns every statistic that is not zero as {@code name: value}, sorted. */
  public static List<String> of(StatsdSource source) {
    List<String> lines = new ArrayList<>();
    source.read(
        new StatsdSource.Reader() {
          @Override
          public void counter(String name, long total) {
            add(name, total);
          }

          @Override
          public void gauge(String name, long value) {
            add(name, value);
          }

          private void add(String name, long value) {
            if (value != 0) {
              lines.add(name + ": " + value);
            }
          }
        });
    Collections.sort(lines);
    return lines;
  }
}
