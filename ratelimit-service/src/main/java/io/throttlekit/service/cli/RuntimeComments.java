package io.throttlekit.service.cli;

import io.netty.util.internal.PlatformDependent;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.store.SharedStore;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Describes the sizes of this process as comments of YAML: those that {@code bin/throttlekit} chose
 * and why, then those in effect, which options of the JVM may have changed.
 */
final class RuntimeComments {
  /** Set by {@code bin/throttlekit}: lines of what it has chosen, separated by {@code |}. */
  static final String CHOSEN = "throttlekit.sizing";

  private RuntimeComments() {}

  /**
   * Returns one comment per line.
   *
   * @param chosen the value of the property {@link #CHOSEN}; empty without that program
   */
  static List<String> lines(String chosen, ServiceConfig config) {
    List<String> lines = new ArrayList<>();
    for (String line : chosen.split("\\|", -1)) {
      if (!line.isBlank()) {
        lines.add("# runtime: " + line.strip());
      }
    }
    int loops = GrpcServer.eventLoops(config.grpc());
    lines.add(
        "# runtime in effect: heap of at most %d MiB, collector %s, %d MiB for Netty's buffers"
            .formatted(
                Runtime.getRuntime().maxMemory() >> 20,
                collector(),
                PlatformDependent.maxDirectMemory() >> 20));
    lines.add(
        "# runtime in effect: %d processors, %d event loops"
            .formatted(Runtime.getRuntime().availableProcessors(), loops));
    lines.add(
        "# runtime in effect: %d connections to a Redis (one for each event loop), or %d to a"
                .formatted(loops, SharedStore.POSTGRES_CONNECTIONS)
            + " PostgreSQL");
    return lines;
  }

  private static String collector() {
    List<String> names =
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName)
            .toList();
    String first = names.isEmpty() ? "" : names.getFirst();
    if (first.equals("Copy")) {
      return "Serial";
    }
    if (first.startsWith("PS")) {
      return "Parallel";
    }
    return first.startsWith("G1") ? "G1" : String.join(", ", names);
  }
}
