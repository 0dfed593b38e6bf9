package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** Counters that are incremented in memory and read at every collection. */
final class OurCounters {

  private final Meter meter;

  OurCounters(Meter meter) {
    this.meter = meter;
  }

  /** Returns a counter, registered under this name. */
  LongAdder counter(String name, String description) {
    LongAdder counter = new LongAdder();
    meter
        .counterBuilder(name)
        .setDescription(description)
        .buildWithCallback(measured -> measured.record(counter.sum()));
    return counter;
  }

  /** Registers a gauge whose value is read at every collection. */
  void gauge(String name, String description, LongSupplier value) {
    meter
        .gaugeBuilder(name)
        .ofLongs()
        .setDescription(description)
        .buildWithCallback(measured -> measured.record(value.getAsLong()));
  }

  /**
   * Returns one counter per enum constant, registered under this name and distinguished by a label.
   */
  <E extends Enum<E>> ByWord<E> counters(
      String name, String description, String label, Class<E> words) {
    ByWord<E> counters = new ByWord<>(words);
    register(name, description, label, counters);
    return counters;
  }

  /** Registers these counters under this name, distinguished by a label. */
  <E extends Enum<E>> void register(
      String name, String description, String label, ByWord<E> counters) {
    AttributeKey<String> key = AttributeKey.stringKey(label);
    meter
        .counterBuilder(name)
        .setDescription(description)
        .buildWithCallback(measured ->
            counters.counters.forEach((word, counter) ->
                measured.record(
                    counter.sum(), Attributes.of(key, word.name().toLowerCase(Locale.ROOT)))));
  }

  /** One counter per enum constant. */
  static final class ByWord<E extends Enum<E>> {
    private final Map<E, LongAdder> counters;

    ByWord(Class<E> words) {
      this.counters = new EnumMap<>(words);
      for (E word : words.getEnumConstants()) {
        counters.put(word, new LongAdder());
      }
    }

    void increment(E word) {
      add(word, 1);
    }

    void add(E word, long count) {
      of(word).add(count);
    }

    long sum(E word) {
      return of(word).sum();
    }

    private LongAdder of(E word) {
      LongAdder counter = counters.get(word);
      if (counter == null) {
        throw new IllegalArgumentException("no counter for " + word);
      }
      return counter;
    }
  }
}
