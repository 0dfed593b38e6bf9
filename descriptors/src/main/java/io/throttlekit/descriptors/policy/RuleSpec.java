package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Limits of one descriptor, as written in a policy file.
 *
 * @param limits empty if unlimited or a concurrency limit; fixed windows only if leased
 * @param metadata texts, numbers, booleans, lists and maps; unmodifiable
 * @param concurrency concurrency limit in place of limits; or null
 * @param denial response to clients when it refuses; null where the policy does not give one
 * @param fairShare division of each of the limits, or of the concurrency limit, among tenants; null
 *     where they are not divided. All limits are fixed windows then
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
    @Nullable Denial denial,
    @Nullable FairShare fairShare) {

  /** Name of a rule that this one replaces, and where the name is written. */
  public record Replacement(SourceLocation location, String name) {}

  /** Copies the lists, and checks that the parts agree. */
  public RuleSpec {
    limits = List.copyOf(limits);
    replaces = List.copyOf(replaces);
    if (sharing.tier() instanceof Tier.Leased && !allFixedWindows(limits)) {
      throw new IllegalArgumentException(location + ": only fixed windows can be leased");
    }
    if (fairShare != null && (limits.isEmpty() ? concurrency == null : !allFixedWindows(limits))) {
      throw new IllegalArgumentException(location + ": only fixed windows can be shared fairly");
    }
  }

  private static boolean allFixedWindows(List<LimitSpec> limits) {
    return limits.stream().allMatch(limit -> limit.algorithm() instanceof FixedWindow);
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

  /**
   * Returns the keys of all entries that only name something for the rule, and may follow its own
   * entries in any order.
   */
  public List<String> ownEntries() {
    return Stream.of(
            fairShare == null ? null : fairShare.tenantEntry(),
            fairShare == null ? null : fairShare.weightEntry(),
            priorityEntry(),
            userEntry())
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  /** Returns the one of these without which no request reaches the rule; null if there is none. */
  public @Nullable String requiredEntry() {
    return fairShare == null ? null : fairShare.tenantEntry();
  }

  private ConcurrencyRule.@Nullable AtService atService() {
    return concurrency != null && concurrency.gate() instanceof ConcurrencyRule.AtService service
        ? service
        : null;
  }
}
