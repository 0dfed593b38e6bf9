package io.throttlekit.descriptors;

import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.tier.Tier;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a policy file says at one descriptor about limits.
 *
 * @param limits empty iff unlimited; fixed windows only if leased
 * @param overdraft only if strict
 * @param onOutage regional only if the scope is global
 * @param metadata as {@link MetadataReader} gives it, which nobody can modify
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
    @Nullable Map<String, Object> metadata) {

  /** The name of a rule that this one takes the place of, and where it is written. */
  record Replacement(SourceLocation location, String name) {}

  RuleSpec {
    limits = List.copyOf(limits);
    replaces = List.copyOf(replaces);
    if (unlimited != limits.isEmpty()) {
      throw new IllegalArgumentException(
          location + ": a rule is either unlimited or has at least one limit");
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
}
