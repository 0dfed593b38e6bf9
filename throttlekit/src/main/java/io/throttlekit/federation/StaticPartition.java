package io.throttlekit.federation;

import java.util.HashSet;
import java.util.List;

/**
 * A budget divided into fixed parts, the baseline that a federation is compared with. It needs no
 * communication, and refuses in a region whose part is used up, even when others have units left.
 *
 * @param limit units of one window, at least one for each region
 * @param regions by name, all different
 */
public record StaticPartition(long limit, List<String> regions) {

  /** Copies the list, and checks that every region gets at least one unit. */
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
   * Returns the part of one region. If the limit is not a multiple, the first regions get one more.
   *
   * @throws IllegalArgumentException for an unknown region
   */
  public long part(String region) {
    int index = regions.indexOf(region);
    if (index < 0) {
      throw new IllegalArgumentException("no region is named " + region);
    }
    return limit / regions.size() + (index < limit % regions.size() ? 1 : 0);
  }
}
