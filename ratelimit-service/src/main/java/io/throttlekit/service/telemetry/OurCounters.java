package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;

/** Counters that are incremented in memory and read at every collection. */
final class OurCounters {

  private final Meter meter;

  OurCounters(Meter meter) {
    this.meter = meter;
  }

  /** Returns the counters from {@code first} to {@code last}, registered under their names. */
  ByWord<Metric> counters(Metric first, Metric last) {
    ByWord<Metric> counters = new ByWord<>(Metric.class, EnumSet.range(first, last));
    counters.counters.forEach(
        (metric, counter) -> counter(metric.id(), metric.description, counter::sum));
    return counters;
  }

  /** Registers a counter whose value is read at every collection; returns what removes it. */
  Runnable counter(String name, String description, LongSupplier value) {
    return labelled(name, description, measured -> measured.record(value.getAsLong()));
  }

  /** Registers a counter whose values are read, with their labels, at every collection. */
  Runnable labelled(String name, String description, Consumer<ObservableLongMeasurement> values) {
    return meter.counterBuilder(name).setDescription(description).buildWithCallback(values)::close;
  }

  /** Adds up values with the same labels: an instrument accepts each set of labels once. */
  static Consumer<ObservableLongMeasurement> sums(Consumer<ObjLongConsumer<Attributes>> values) {
    return measured -> {
      Map<Attributes, Long> sums = new HashMap<>();
      values.accept((labels, value) -> sums.merge(labels, value, Long::sum));
      sums.forEach((labels, sum) -> measured.record(sum, labels));
    };
  }

  /** Registers a gauge whose value is read at every collection; returns what removes it. */
  Runnable gauge(String name, String description, LongSupplier value) {
    return meter
            .gaugeBuilder(name)
            .ofLongs()
            .setDescription(description)
            .buildWithCallback(measured -> measured.record(value.getAsLong()))
        ::close;
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
    labelled(
        name,
        description,
        measured ->
            counters.forEach((word, count) -> measured.record(count, Attributes.of(key, word))));
  }

  /** One counter per enum constant. */
  static final class ByWord<E extends Enum<E>> {
    private final Map<E, LongAdder> counters;

    ByWord(Class<E> words) {
      this(words, EnumSet.allOf(words));
    }

    private ByWord(Class<E> words, Set<E> counted) {
      this.counters = new EnumMap<>(words);
      counted.forEach(word -> counters.put(word, new LongAdder()));
    }

    void increment(E word) {
      add(word, 1);
    }

    void add(E word, long count) {
      of(word).add(count);
    }

    /** Passes each value with the constant's name in lower case. */
    void forEach(ObjLongConsumer<String> reader) {
      counters.forEach(
          (word, counter) -> reader.accept(word.name().toLowerCase(Locale.ROOT), counter.sum()));
    }

    long sum(E word) {
      return of(word).sum();
    }

    private LongAdder of(E word) {
      return Objects.requireNonNull(counters.get(word), "not one of these counters");
    }
  }
}
