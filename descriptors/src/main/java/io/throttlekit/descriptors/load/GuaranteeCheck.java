package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.FairShare.Weight;
import io.throttlekit.descriptors.source.Wording;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Warns of guarantees that can be 0.
 *
 * <p>Units cannot be divided: beyond some number of tenants, each one's guarantee is less than a
 * unit. That number is compared with the expected number of tenants. The default of {@code
 * max_tenants} only bounds memory, so a few tenants are expected there; any other value is taken as
 * meant.
 */
record GuaranteeCheck(PolicySection written, FairShare share) {
  private static final int FEW_TENANTS = 100;
  private static final int DEFAULT_TENANTS = 100_000; // as in policy-language.yaml

  /**
   * Warns of the smallest of these limits; one of 0 guarantees nothing on purpose.
   *
   * @param limits units of each limit that is divided; for a concurrency limit, its largest value
   */
  void warn(List<Long> limits) {
    List<Long> positive = limits.stream().filter(limit -> limit > 0).toList();
    if (!positive.isEmpty()) {
      warn(Collections.min(positive));
    }
  }

  private void warn(long limit) {
    if (share.weights().isEmpty()) {
      warnOfMany("", limit, limit);
      return;
    }
    Map.Entry<String, Weight> least =
        Collections.min(
            share.weights().entrySet(),
            Map.Entry.comparingByValue(Comparator.comparingLong(Weight::thousandths)));
    long left = limit * (FairShare.ALL - share.unlistedMillionths()) / FairShare.ALL;
    if (left == 0) {
      written.warning(
          written.has("unlisted_share") ? "unlisted_share" : "weights",
          "tenants without a listed weight may claim all of the limit of %d: a listed one can be"
                  .formatted(limit)
              + " guaranteed 0",
          "write a smaller unlisted_share, or a larger limit");
    } else if (share.guarantee(least.getValue(), limit) == 0) {
      written.warning(
          "weights",
          "%s can be guaranteed 0 of %d: its weight is %s of %s, and unlisted_share leaves %d"
              .formatted(
                  Wording.quote(least.getKey()),
                  limit,
                  least.getValue(),
                  new Weight(share.listedThousandths(), true),
                  left),
          "write a larger weight, or a larger limit");
    }
    boolean many = share.weightEntry() != null && left > 0; // several tenants have each weight
    long unlisted = share.unlistedUnits(limit);
    if (many && left < unlisted) {
      warnOfMany(" with a listed weight", left, limit);
    } else if (share.unlistedMillionths() > 0) { // with 0, they only borrow on purpose
      warnOfMany(" without a listed weight", unlisted, limit);
    }
  }

  /** Warns if fewer tenants than expected can be guaranteed a unit each. */
  private void warnOfMany(String which, long units, long limit) {
    int most = share.maxTenants();
    int expected = most == DEFAULT_TENANTS ? FEW_TENANTS : most;
    if (units == 0) {
      written.warning(
          "tenant",
          "a tenant%s is guaranteed 0 of %d, and only borrows".formatted(which, limit),
          "write a larger limit, or one for a longer window");
    } else if (units < expected) {
      written.warning(
          most == DEFAULT_TENANTS ? "tenant" : "max_tenants",
          "if more than %d tenants%s are active, each is guaranteed 0 of %d, and only borrows"
              .formatted(units, which, limit),
          "write a larger limit, or one for a longer window; or max_tenants: "
              + units
              + " if there are never more");
    }
  }
}
