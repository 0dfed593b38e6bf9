package io.throttlekit.bench.chaos;

import io.throttlekit.testkit.WindowTally.Window;
import java.util.ArrayList;
import java.util.List;

/** A time without faults, in which this process ran; by the coordinator's clock. */
public record QuietTime(long fromMillis, long toMillis) {

  /**
   * Returns the units of each window that lies wholly in it; 0 for one in which no unit was
   * admitted.
   */
  public List<Long> windows(List<Window> admitted, long windowMillis) {
    List<Long> units = new ArrayList<>();
    long first = Math.ceilDiv(fromMillis, windowMillis) * windowMillis + windowMillis;
    for (long end = first; end <= toMillis; end += windowMillis) {
      units.add(unitsOf(admitted, end));
    }
    return units;
  }

  private static long unitsOf(List<Window> admitted, long endMillis) {
    return admitted.stream()
        .filter(window -> window.endMillis() == endMillis)
        .mapToLong(window -> window.units() + window.straddling())
        .sum();
  }
}
