package io.throttlekit.descriptors.policy;

import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import java.util.ArrayList;
import java.util.List;

/** Describes tiers for people: {@code leased in batches of 100 (renewed at 20 left)}. */
final class TierText {
  /** Default idle time after which the rest of a lease is returned. */
  static final long RETURN_IDLE_AFTER_MILLIS = 30_000; // as in policy-language.yaml

  private TierText() {}

  /** Describes the tier and its extent; "" for strict, the default. */
  static String of(Tier tier) {
    return switch (tier) {
      case Tier.Strict _ -> "";
      case Tier.CachedDeny _ -> "with cached denials";
      case Tier.Leased leased -> "leased in " + batches(leased.size()) + details(leased);
      case Tier.Global global ->
          "leased over all regions in " + batches(global.size()) + details(global);
    };
  }

  private static String batches(LeaseSize size) {
    return switch (size) {
      case LeaseSize.Fixed fixed -> "batches of " + fixed.units();
      case LeaseSize.Adaptive _ -> "adaptive batches";
      case LeaseSize.Predictive _ -> "predictive batches";
    };
  }

  private static String details(Tier.Leasing leased) {
    List<String> details = new ArrayList<>();
    if (leased instanceof Tier.Leased regional && !regional.windowCoupled()) {
      details.add("carried over");
    }
    if (leased.lowWater() > 0) {
      details.add("renewed at " + leased.lowWater() + " left");
    }
    long idle = leased.returnIdleAfterMillis();
    if (idle == 0) {
      details.add("never returned");
    } else if (idle != RETURN_IDLE_AFTER_MILLIS) {
      details.add("returned after " + WindowText.of(idle) + " idle");
    }
    return details.isEmpty() ? "" : " (" + String.join(", ", details) + ')';
  }
}
