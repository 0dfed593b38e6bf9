package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits of one descriptor, as written in a policy file.
 *
 * @param limits empty if unlimited or a concurrency limit; fixed windows only if leased
 * @param metadata texts, numbers, booleans, lists and maps; unmodifiable
 * @param concurrency concurrency limit in place of limits; or null
 * @param denial response to clients when it refuses; null where the policy does not give one
 */
public record RuleSpec(
    SourceLocation location,
    List<LimitSpec> limits,
    String name,
    List<Replacement> replaces,
    boolean shadow,
    boolean quota,
    Sharing sharing,
    @Nullable Map<String, Object> metadata,
    @Nullable ConcurrencyRule concurrency,
    @Nullable Denial denial) {

  /** Name of a rule that this one replaces, and where the name is written. */
  public record Replacement(SourceLocation location, String name) {}

  /** Copies the lists, and checks that the parts agree. */
  public RuleSpec {
    limits = List.copyOf(limits);
    replaces = List.copyOf(replaces);
    if (sharing.tier() instanceof Tier.Leased
        && !limits.stream().allMatch(limit -> limit.algorithm() instanceof FixedWindow)) {
      throw new IllegalArgumentException(location + ": only fixed windows can be leased");
    }
  }

  /** Returns whether it admits everything: it has neither limits nor a concurrency limit. */
  public boolean unlimited() {
    return limits.isEmpty() && concurrency == null;
  }

  /**
   * Returns the key of an entry that only names the priority of a request; null where there is
   * none.
   */
  public @Nullable String priorityEntry() {
    ConcurrencyRule.AtService service = atService();
    return service == null ? null : service.priorityEntry();
  }

  /**
   * Returns the key of an entry that only names the user of a request; null where there is none.
   */
  public @Nullable String userEntry() {
    ConcurrencyRule.AtService service = atService();
    return service == null ? null : service.userEntry();
  }

  private ConcurrencyRule.@Nullable AtService atService() {
    return concurrency != null && concurrency.gate() instanceof ConcurrencyRule.AtService service
        ? service
        : null;
  }
}
