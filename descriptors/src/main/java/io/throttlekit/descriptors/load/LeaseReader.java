package io.throttlekit.descriptors.load;

import io.throttlekit.Cost;
import io.throttlekit.descriptors.policy.LimitSpec;
import io.throttlekit.descriptors.policy.Scope;
import io.throttlekit.descriptors.policy.WindowText;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.YamlNode;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;

/** Reads the terms on which limits are leased: the mapping {@code lease}. */
final class LeaseReader {
  private static final LeaseSize ADAPTIVE = new LeaseSize.Adaptive();

  private LeaseReader() {}

  /**
   * Reads the section; defaults apply to parts that are absent or wrong.
   *
   * @param scope of the rule; where it is global, leases end with their window
   * @param limits limits that are leased, to warn of settings that are pointless for all of them
   */
  static Tier.Leased read(PolicySection lease, Scope scope, List<LimitSpec> limits) {
    boolean windowCoupled = lease.flag("window_coupled");
    if (scope == Scope.GLOBAL && !windowCoupled) {
      checkCoupled(lease);
      windowCoupled = true;
    }
    LeaseSize size = size(lease, scope, limits);
    long lowWater = lowWater(lease, size, limits);
    long idle = returnIdleAfter(lease, windowCoupled, limits);
    return new Tier.Leased(size, windowCoupled, lowWater, idle);
  }

  private static void checkCoupled(PolicySection lease) {
    Fields.Field field = lease.get("window_coupled");
    if (field != null
        && field.value() instanceof YamlNode.Scalar scalar
        && scalar.kind() == ScalarKind.BOOL) {
      lease.error(
          "window_coupled",
          "`window_coupled: false` is for scope: region only: units of all regions end with"
              + " their window",
          "write window_coupled: true, or remove it");
    }
  }

  private static LeaseSize size(PolicySection lease, Scope scope, List<LimitSpec> limits) {
    Fields.Field field = lease.get("size");
    if (field == null) {
      return ADAPTIVE;
    }
    YamlNode.Scalar scalar = field.scalar();
    if (scalar != null) {
      // A number in quotes is read as one, so that the error says to remove the quotes.
      ScalarKind unquoted =
          scalar.kind() == ScalarKind.TEXT ? ScalarKind.ofPlain(scalar.text()) : scalar.kind();
      if (unquoted == ScalarKind.INTEGER) {
        return fixed(lease, scope, limits);
      }
      if (unquoted == ScalarKind.TEXT) {
        List<String> offered = new ArrayList<>(lease.words("size"));
        offered.add("a whole number");
        return "predictive".equals(lease.word("size", offered))
            ? new LeaseSize.Predictive()
            : ADAPTIVE;
      }
    }
    lease.wrongType(field, "adaptive, predictive or a whole number from 1 to " + Cost.MAX, "");
    return ADAPTIVE;
  }

  private static LeaseSize fixed(PolicySection lease, Scope scope, List<LimitSpec> limits) {
    long units = lease.number("size");
    if (units < 0) {
      return ADAPTIVE;
    }
    LongSummaryStatistics sizes = sizes(limits);
    if (units == 1) {
      lease.warning(
          "size",
          "a lease of 1 unit calls the store for every request",
          "write a larger size, or "
              + (scope == Scope.GLOBAL ? "size: adaptive" : "tier: cached_deny"));
    } else if (sizes.getCount() > 0 && units > sizes.getMax()) {
      lease.warning(
          "size",
          "`size` is above the limit of %1$d: leases are of %1$d at most".formatted(sizes.getMax()),
          "write " + sizes.getMax() + " or less, or size: adaptive");
    }
    return new LeaseSize.Fixed(units);
  }

  private static long lowWater(PolicySection lease, LeaseSize size, List<LimitSpec> limits) {
    long units = Math.max(0, lease.number("low_water")); // -1 was reported
    LongSummaryStatistics sizes = sizes(limits);
    if (units > 0 && size instanceof LeaseSize.Fixed fixed && units >= fixed.units()) {
      lease.error(
          "low_water",
          "`low_water` must be below `size`, which is " + fixed.units(),
          "write a smaller low_water, or a larger size");
    } else if (units > 0 && sizes.getCount() > 0 && units >= sizes.getMin()) {
      lease.warning(
          "low_water",
          "`low_water` is not below the limit of %d: a lease is never above it, so every request"
                  .formatted(sizes.getMin())
              + " needs another lease",
          "write less than " + sizes.getMin());
    }
    return units;
  }

  private static long returnIdleAfter(
      PolicySection lease, boolean windowCoupled, List<LimitSpec> limits) {
    long millis = lease.millis("return_idle_after");
    long longest = limits.stream().mapToLong(LimitSpec::windowMillis).max().orElse(Cost.MAX);
    if (lease.has("return_idle_after") && windowCoupled && millis >= longest) {
      lease.warning(
          "return_idle_after",
          "`return_idle_after` has no effect: what is left of a lease ends with the window of "
              + WindowText.of(longest),
          "write less than " + WindowText.of(longest) + ", or 0 for never");
    }
    return Math.max(0, millis); // -1 was reported
  }

  /** Returns the limits above 0; a limit of 0 refuses everything and is never leased. */
  private static LongSummaryStatistics sizes(List<LimitSpec> limits) {
    return limits.stream()
        .mapToLong(LimitSpec::requestsPerUnit)
        .filter(limit -> limit > 0)
        .summaryStatistics();
  }
}
