package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.util.function.ToLongFunction;

/**
 * Resources used by the JVM, read at every collection: the counterpart of envoyproxy/ratelimit's
 * {@code go.*}, under OpenTelemetry's names where they exist.
 */
final class JvmInstruments {
  private static final AttributeKey<String> TYPE = AttributeKey.stringKey("jvm.memory.type");
  private static final Attributes HEAP = Attributes.of(TYPE, "heap");
  private static final Attributes NON_HEAP = Attributes.of(TYPE, "non_heap");
  private static final AttributeKey<String> COLLECTOR = AttributeKey.stringKey("jvm.gc.name");

  private JvmInstruments() {}

  static void register(Meter meter) {
    ofMemory(meter, "jvm.memory.used", "Memory in use", MemoryUsage::getUsed);
    ofMemory(meter, "jvm.memory.committed", "Memory taken", MemoryUsage::getCommitted);
    meter
        .upDownCounterBuilder("jvm.thread.count")
        .setDescription("Platform threads")
        .buildWithCallback(
            measured -> measured.record(ManagementFactory.getThreadMXBean().getThreadCount()));
    meter
        .counterBuilder("throttlekit.jvm.gc")
        .setDescription("Garbage collections")
        .buildWithCallback(measured -> {
          for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            measured.record(collector.getCollectionCount(), name(collector));
          }
        });
    meter
        .counterBuilder("throttlekit.jvm.gc.time")
        .ofDoubles()
        .setUnit("s")
        .setDescription("Time spent in garbage collections")
        .buildWithCallback(measured -> {
          for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            measured.record(collector.getCollectionTime() / 1e3, name(collector));
          }
        });
  }

  private static void ofMemory(
      Meter meter, String name, String description, ToLongFunction<MemoryUsage> figure) {
    meter
        .upDownCounterBuilder(name)
        .setUnit("By")
        .setDescription(description)
        .buildWithCallback(measured -> {
          MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
          measured.record(figure.applyAsLong(memory.getHeapMemoryUsage()), HEAP);
          measured.record(figure.applyAsLong(memory.getNonHeapMemoryUsage()), NON_HEAP);
        });
  }

  private static Attributes name(GarbageCollectorMXBean collector) {
    return Attributes.of(COLLECTOR, collector.getName());
  }
}
