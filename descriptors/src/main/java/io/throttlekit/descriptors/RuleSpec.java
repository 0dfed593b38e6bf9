package io.throttlekit.descriptors;

import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.tier.Tier;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits of one descriptor, as written in a policy file.
 *
 * @param limits empty iff unlimited or a concurrency limit; fixed windows only if leased
 * @param overdraft only if strict
 * @param onOutage regional only if the scope is global
 * @param metadata as {@link MetadataReader} returns it, unmodifiable
 * @param concurrency concurrency limit in place of limits; or null
 * @param denial response to clients when it refuses; null where the policy does not give one
 */
record RuleSpec(
    SourceLocation location,
    boolean unlimited,
    List<LimitSpec> limits,
    String name,
    List<Replacement> replaces,
    boolean shadow,
    boolean quota,
    boolean overdraft,
    Sharing sharing,
    OnOutage onOutage,
    DataLoss onDataLoss,
    @Nullable Map<String, Object> metadata,
    @Nullable ConcurrencyRule concurrency,
    @Nullable Denial denial) {

  /** Name of a rule that this one replaces, and where the name is written. */
  record Replacement(SourceLocation location, String name) {}

  RuleSpec {
    limits = List.copyOf(limits);
    replaces = List.copyOf(replaces);
    if ((unlimited ? 1 : 0) + (limits.isEmpty() ? 0 : 1) + (concurrency == null ? 0 : 1) != 1) {
      throw new IllegalArgumentException(
          location + ": a rule is unlimited, or has at least one limit, or a concurrency limit");
    }
    Tier tier = sharing.tier();
    if (overdraft && tier != null && !(tier instanceof Tier.Strict)) {
      throw new IllegalArgumentException(location + ": only a strict rule can be overdrawn");
    }
    if (tier instanceof Tier.Leased
        && !limits.stream().allMatch(limit -> limit.algorithm() instanceof FixedWindow)) {
      throw new IllegalArgumentException(location + ": only fixed windows can be leased");
    }
    if (onOutage == OnOutage.REGIONAL_ONLY && sharing.scope() != Scope.GLOBAL) {
      throw new IllegalArgumentException(
          location + ": only what regions share goes on in a region");
    }
  }

  /**
   * Returns the key of an entry that only names the priority of a request; null where there is
   * none.
   */
  @Nullable String priorityEntry() {
    return concurrency != null && concurrency.gate() instanceof ConcurrencyRule.AtService service
        ? service.priorityEntry()
        : null;
  }

  /** Creates a rule that counts requests, or is unlimited, and does not define a denial. */
  RuleSpec(
      SourceLocation location,
      boolean unlimited,
      List<LimitSpec> limits,
      String name,
      List<Replacement> replaces,
      boolean shadow,
      boolean quota,
      boolean overdraft,
      Sharing sharing,
      OnOutage onOutage,
      DataLoss onDataLoss,
      @Nullable Map<String, Object> metadata) {
    this(
        location,
        unlimited,
        limits,
        name,
        replaces,
        shadow,
        quota,
        overdraft,
        sharing,
        onOutage,
        onDataLoss,
        metadata,
        null,
        null);
  }
}
