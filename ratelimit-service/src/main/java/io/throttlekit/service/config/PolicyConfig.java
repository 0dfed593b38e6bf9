package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where policies are read and how often.
 *
 * @param paths files or folders, read in this order
 * @param runtime read instead when there are no paths
 * @param mergeDomains whether several files may describe one domain
 * @param pollInterval time between two looks for changes
 * @param requireAtStart whether the process refuses to start while the policies are bad
 */
public record PolicyConfig(
    List<Path> paths,
    @Nullable RuntimeFolder runtime,
    boolean mergeDomains,
    Duration pollInterval,
    boolean requireAtStart) {

  /** Keeps a copy of the list. */
  public PolicyConfig {
    paths = List.copyOf(paths);
  }

  /** What is in force when nothing is configured. */
  public static PolicyConfig defaults() {
    return new PolicyConfig(List.of(), null, true, Duration.ofSeconds(1), true);
  }
}
