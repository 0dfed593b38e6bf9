package io.throttlekit.share;

import io.throttlekit.limiter.Permit;
import java.util.ArrayList;
import java.util.List;

/** Permits of the nodes of tests. */
final class Permits {
  private Permits() {}

  /** Returns the permits of so many attempts; attempts that are refused add none. */
  static List<Permit> acquire(DistributedLimiter node, int times) {
    List<Permit> permits = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      Permit permit = node.limiter().tryAcquire();
      if (permit != null) {
        permits.add(permit);
      }
    }
    return permits;
  }
}
