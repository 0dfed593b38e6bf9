package io.throttlekit.service.concurrency.sensors;

import java.util.EnumMap;
import java.util.Map;

/** Counts the events of access logs. For one thread. */
public final class LogCounts extends StreamCounts implements AccessLogListener {
  final Map<Kind, Integer> read = new EnumMap<>(Kind.class);
  final Map<Skipped, Integer> skipped = new EnumMap<>(Skipped.class);
  int withoutNode;

  @Override
  public void withoutNode(int entries) {
    withoutNode += entries;
  }

  @Override
  public void read(Reading reading) {
    read.merge(reading.kind(), 1, Integer::sum);
  }

  @Override
  public void skipped(Skipped why, int entries) {
    skipped.merge(why, entries, Integer::sum);
  }
}
