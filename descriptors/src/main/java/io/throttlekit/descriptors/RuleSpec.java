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
 * @param limits empty iff unlimited or a ceiling; fixed windows only if leased
 * @param overdraft only if strict
 * @param onOutage regional only if the scope is global
 * @param metadata as {@link MetadataReader} gives it, which nobody can modify
 * @param ceiling what may be in flight, in place of limits; or null
 * @param denial what clients are told that it refuses; null where it does not say
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
    @Nullable Ceiling ceiling,
    @Nullable Denial denial) {

  /** The name of a rule that this one takes the place of, and where it is written. */
  record Replacement(SourceLocation location, String name) {}

  RuleSpec {
    limits = List.copyOf(limits);
    replaces = List.copyOf(replaces);
    if ((unlimited ? 1 : 0) + (limits.isEmpty() ? 0 : 1) + (ceiling == null ? 0 : 1) != 1) {
      throw new IllegalArgumentException(
          location + ": a rule is unlimited, or has at least one limit, or a ceiling");
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

  /** Key of an entry that only names the priority of a request; null where none does. */
  @Nullable String priorityEntry() {
    return ceiling != null && ceiling.gate() instanceof Ceiling.AtService service
        ? service.priorityEntry()
        : null;
  }

  /** Of a rule that counts requests, or is unlimited, and says nothing of refusals. */
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
