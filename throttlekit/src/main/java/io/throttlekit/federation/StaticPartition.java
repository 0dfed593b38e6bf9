package io.throttlekit.federation;

import java.util.HashSet;
import java.util.List;

/**
 * A budget divided once and for all: what a federation is better than. It asks nobody, and a region
 * that has used its part up is refused however little the others need.
 *
 * @param limit units of one window, at least one for each region
 * @param regions by name, all different
 */
public record StaticPartition(long limit, List<String> regions) {

  /** Keeps a copy of the list, and checks that everyone gets something. */
  public StaticPartition {
    regions = List.copyOf(regions);
    if (regions.isEmpty() || new HashSet<>(regions).size() < regions.size()) {
      throw new IllegalArgumentException("regions must be one or more different names");
    }
    if (limit < regions.size()) {
      throw new IllegalArgumentException(
          "a limit of %d is too small for %d regions".formatted(limit, regions.size()));
    }
  }

  /**
   * The part of one region. The first ones have one more where the limit is no multiple.
   *
   * @throws IllegalArgumentException for a region that is not among them
   */
  public long part(String region) {
    int index = regions.indexOf(region);
    if (index < 0) {
      throw new IllegalArgumentException("no region is named " + region);
    }
    return limit / regions.size() + (index < limit % regions.size() ? 1 : 0);
  }
}
