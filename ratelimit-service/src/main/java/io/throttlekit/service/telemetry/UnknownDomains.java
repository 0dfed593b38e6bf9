package io.throttlekit.service.telemetry;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;

/**
 * Counts descriptors by unknown domain. Callers choose those names, so at most {@code maxNames} are
 * distinguished; the others are counted as {@code other}. Each of those is logged once.
 * Thread-safe.
 */
final class UnknownDomains {
  private final int maxNames;
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final LongAdder other = new LongAdder();

  private final Consumer<String> log;

  /**
   * @param log receives each distinguished name once; does not block
   */
  UnknownDomains(int maxNames, Consumer<String> log) {
    this.maxNames = maxNames;
    this.log = log;
  }

  void count(String domain, int descriptors) {
    String name = SeriesName.text(domain);
    LongAdder known = name.equals(SeriesName.OTHER) ? other : counts.get(name);
    (known != null ? known : added(name)).add(descriptors);
  }

  /** Returns the descriptors counted as {@code other}. */
  long gathered() {
    return other.sum();
  }

  void forEach(ObjLongConsumer<String> reader) {
    counts.forEach((name, count) -> reader.accept(name, count.sum()));
    if (gathered() > 0) {
      reader.accept(SeriesName.OTHER, gathered());
    }
  }

  private LongAdder added(String name) {
    if (counts.size() < maxNames) {
      synchronized (this) {
        if (counts.size() < maxNames) {
          return counts.computeIfAbsent(
              name,
              added -> {
                log.accept(added);
                return new LongAdder();
              });
        }
      }
    }
    return other;
  }
}
