package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of where policies are read and how often.
 *
 * @param paths files or folders, read in this order
 * @param runtime read instead when there are no paths
 * @param xds control plane that sends policies in place of all files; absent for none
 * @param mergeDomains whether several files may define one domain
 * @param pollInterval time between two checks for changes
 * @param requireAtStart whether the process refuses to start with invalid policies, and waits for
 *     those of a control plane
 * @param lastGoodFolder where the last good policies are kept for the next start; absent for none
 */
public record PolicyConfig(
    List<Path> paths,
    @Nullable RuntimeFolder runtime,
    @Nullable XdsConfig xds,
    boolean mergeDomains,
    Duration pollInterval,
    boolean requireAtStart,
    @Nullable Path lastGoodFolder) {

  /** Copies the list. */
  public PolicyConfig {
    paths = List.copyOf(paths);
  }

  /**
   * Folder from which envoyproxy/ratelimit reads policies.
   *
   * @param root folder or link to one
   * @param subdirectory below the root; empty for none
   * @param appDirectory below that; its name is the prefix of the names of files that count
   * @param watchRoot whether files beside that folder count when their names begin with its name
   * @param ignoreDotFiles whether names that begin with a dot are skipped
   */
  public record RuntimeFolder(
      Path root,
      String subdirectory,
      String appDirectory,
      boolean watchRoot,
      boolean ignoreDotFiles) {}
}
