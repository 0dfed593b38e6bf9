package io.throttlekit.descriptors;

import io.throttlekit.Cost;
import io.throttlekit.descriptors.Fields.Field;
import io.throttlekit.tier.LeaseSize;
import io.throttlekit.tier.Tier;
import java.util.List;
import java.util.LongSummaryStatistics;
import org.jspecify.annotations.Nullable;

/** Reads the terms on which limits are leased: the mapping {@code lease}. */
final class LeaseReader {
  private static final List<String> LEARNED = List.of("adaptive", "predictive");
  private static final List<String> SIZES = List.of("adaptive", "predictive", "a whole number");
  private static final String ANY_SIZE = "write a whole number from 1, adaptive or predictive";
  private static final LeaseSize ADAPTIVE = new LeaseSize.Adaptive();

  /** Default idle time after which the rest of a lease is returned. */
  static final long RETURN_IDLE_AFTER_MILLIS = 30_000;

  private final Problems problems;
  private final Values values;

  LeaseReader(Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
  }

  /**
   * Reads the field; defaults apply to parts that are absent or wrong.
   *
   * @param scope of the rule; where it is global, leases end with their window
   * @param limits limits that are leased, to warn of settings that are pointless for all of them
   */
  Tier.Leased read(@Nullable Field lease, Scope scope, List<LimitSpec> limits) {
    YamlNode.Mapping mapping = values.mapping(lease);
    if (mapping == null) {
      return new Tier.Leased(ADAPTIVE, true, 0, RETURN_IDLE_AFTER_MILLIS);
    }
    Fields fields = Fields.of(mapping, problems);
    Place.LEASE.check(fields, problems);
    Field coupled = fields.get("window_coupled");
    boolean windowCoupled = coupled == null || values.flag(coupled);
    if (scope == Scope.GLOBAL && !windowCoupled) {
      checkCoupled(coupled);
      windowCoupled = true;
    }
    LeaseSize size = size(fields.get("size"), scope, limits);
    long lowWater = lowWater(fields.get("low_water"), size, limits);
    long idle = returnIdleAfter(fields.get("return_idle_after"), windowCoupled, limits);
    return new Tier.Leased(size, windowCoupled, lowWater, idle);
  }

  private void checkCoupled(@Nullable Field coupled) {
    if (coupled != null
        && coupled.value() instanceof YamlNode.Scalar scalar
        && scalar.kind() == ScalarKind.BOOL) {
      problems.error(
          scalar.location(),
          "`window_coupled: false` is for scope: region only: units of all regions end with their"
              + " window",
          "write window_coupled: true, or remove it");
    }
  }

  private LeaseSize size(@Nullable Field field, Scope scope, List<LimitSpec> limits) {
    if (field == null) {
      return ADAPTIVE;
    }
    if (field.value() instanceof YamlNode.Scalar scalar) {
      boolean text = scalar.kind() == ScalarKind.TEXT;
      // A number in quotes is read as one, so that the error says to remove the quotes.
      ScalarKind unquoted = text ? ScalarKind.ofPlain(scalar.text()) : scalar.kind();
      if (unquoted == ScalarKind.INTEGER) {
        return fixed(field, scope, limits);
      }
      if (unquoted == ScalarKind.TEXT) {
        return "predictive".equals(values.choice(field, LEARNED, SIZES))
            ? new LeaseSize.Predictive()
            : ADAPTIVE;
      }
    }
    values.wrongType(field, "adaptive, predictive or a whole number from 1 to " + Cost.MAX, "");
    return ADAPTIVE;
  }

  private LeaseSize fixed(Field field, Scope scope, List<LimitSpec> limits) {
    long units = values.number(field, 1, Cost.MAX, ANY_SIZE);
    if (units < 0) {
      return ADAPTIVE;
    }
    LongSummaryStatistics sizes = sizes(limits);
    if (units == 1) {
      problems.warning(
          field.value().location(),
          "a lease of 1 unit asks the store for every request",
          "write a larger size, or "
              + (scope == Scope.GLOBAL ? "size: adaptive" : "tier: cached_deny"));
    } else if (sizes.getCount() > 0 && units > sizes.getMax()) {
      problems.warning(
          field.value().location(),
          "`size` is above the limit of %1$d: leases are of %1$d at most".formatted(sizes.getMax()),
          "write " + sizes.getMax() + " or less, or size: adaptive");
    }
    return new LeaseSize.Fixed(units);
  }

  private long lowWater(@Nullable Field field, LeaseSize size, List<LimitSpec> limits) {
    long units = field == null ? 0 : values.number(field, Cost.MAX);
    if (field == null || units < 1) {
      return 0;
    }
    LongSummaryStatistics sizes = sizes(limits);
    if (size instanceof LeaseSize.Fixed fixed && units >= fixed.units()) {
      problems.error(
          field.value().location(),
          "`low_water` must be below `size`, which is " + fixed.units(),
          "write a smaller low_water, or a larger size");
    } else if (sizes.getCount() > 0 && units >= sizes.getMin()) {
      problems.warning(
          field.value().location(),
          "`low_water` is not below the limit of "
              + sizes.getMin()
              + ": a lease is never above it, so every request asks for another",
          "write less than " + sizes.getMin());
    }
    return units;
  }

  private long returnIdleAfter(
      @Nullable Field field, boolean windowCoupled, List<LimitSpec> limits) {
    if (field == null) {
      return RETURN_IDLE_AFTER_MILLIS;
    }
    String text = values.text(field);
    long millis = WindowText.millis(text);
    if (millis == 0 && !WindowText.isZero(text)) {
      // Of other types, values.text() has reported an error already.
      if (field.value() instanceof YamlNode.Scalar scalar && scalar.kind() != ScalarKind.FLOAT) {
        problems.error(
            scalar.location(),
            Wording.quote(text) + " is not a duration",
            WindowText.HINT + "; 0 is never");
      }
      return RETURN_IDLE_AFTER_MILLIS;
    }
    if (millis > Cost.MAX) {
      problems.error(
          field.value().location(), "`return_idle_after` is longer than time is counted", "");
      return RETURN_IDLE_AFTER_MILLIS;
    }
    long longest = limits.stream().mapToLong(LimitSpec::windowMillis).max().orElse(Cost.MAX);
    if (windowCoupled && millis >= longest) {
      problems.warning(
          field.value().location(),
          "`return_idle_after` has no effect: what is left of a lease ends with the window of "
              + WindowText.of(longest),
          "write less than " + WindowText.of(longest) + ", or 0 for never");
    }
    return millis;
  }

  /** Returns the limits above 0; a limit of 0 refuses everything and is never leased. */
  private static LongSummaryStatistics sizes(List<LimitSpec> limits) {
    return limits.stream()
        .mapToLong(LimitSpec::requestsPerUnit)
        .filter(limit -> limit > 0)
        .summaryStatistics();
  }
}
