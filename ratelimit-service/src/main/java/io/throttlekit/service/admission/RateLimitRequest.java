package io.throttlekit.service.admission;

import io.throttlekit.descriptors.Descriptor;
import java.util.List;

/**
 * What one caller asks about.
 *
 * @param domain not empty
 * @param descriptors at least one; owned, not copied
 * @param hits cost of each descriptor that does not say its own, from 1 to 2^53 − 1
 */
public record RateLimitRequest(String domain, List<Descriptor> descriptors, long hits) {

  /** The units to count for {@code descriptor}: 0 to look only, below 0 to give back. */
  public long costOf(Descriptor descriptor) {
    long units = descriptor.hits() == Descriptor.HITS_UNSET ? hits : descriptor.hits();
    return descriptor.refund() ? -units : units;
  }
}
