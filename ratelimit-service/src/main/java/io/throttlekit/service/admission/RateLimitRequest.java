package io.throttlekit.service.admission;

import io.throttlekit.descriptors.policy.Descriptor;
import java.util.List;

/**
 * A rate limit request as its caller sent it.
 *
 * @param domain not empty
 * @param descriptors at least one; owned, not copied
 * @param hitsAddend cost of each descriptor without a cost of its own, to 2^53 − 1; 0 stands for 1,
 *     as in Envoy's API
 */
public record RateLimitRequest(String domain, List<Descriptor> descriptors, long hitsAddend) {

  /** Returns the units to charge for {@code descriptor}: 0 to read only, negative for a refund. */
  public long costOf(Descriptor descriptor) {
    long own = descriptor.hits();
    // Envoy's API: an absent or zero hits_addend of the request counts as 1; a descriptor's own 0
    // reads the counter without a charge.
    long units = own == Descriptor.HITS_UNSET ? Math.max(1, hitsAddend) : own;
    return descriptor.refund() ? -units : units;
  }
}
