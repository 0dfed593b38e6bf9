package io.throttlekit.service.admission;

import io.throttlekit.descriptors.Descriptor;
import java.util.List;

/**
 * A rate limit request as its caller sent it.
 *
 * @param domain not empty
 * @param descriptors at least one; owned, not copied
 * @param hits cost of each descriptor without a cost of its own, from 1 to 2^53 − 1
 */
public record RateLimitRequest(String domain, List<Descriptor> descriptors, long hits) {

  /** Returns the units to charge for {@code descriptor}: 0 to read only, negative for a refund. */
  public long costOf(Descriptor descriptor) {
    long units = descriptor.hits() == Descriptor.HITS_UNSET ? hits : descriptor.hits();
    return descriptor.refund() ? -units : units;
  }
}
