package io.throttlekit.descriptors.policy;

import io.throttlekit.rate.RateAlgorithm;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rule of a generated policy, for models of the service.
 *
 * @param limits empty iff the rule is unlimited
 */
public record ReferenceRule(
    String name,
    List<Part> limits,
    List<String> replaces,
    boolean shadow,
    boolean quota,
    boolean overdraft,
    @Nullable FairShare fairShare) {

  /** One of its limits; {@code unit} is null when the protocol has no name for the window. */
  public record Part(
      RateAlgorithm<?> algorithm,
      long requestsPerUnit,
      @Nullable LimitUnit unit,
      long windowMillis) {}

  public static ReferenceRule of(RuleSpec rule) {
    return new ReferenceRule(
        rule.name(),
        rule.limits().stream()
            .map(limit ->
                new Part(
                    limit.algorithm(), limit.requestsPerUnit(), limit.unit(), limit.windowMillis()))
            .toList(),
        rule.replaces().stream().map(RuleSpec.Replacement::name).toList(),
        rule.shadow(),
        rule.quota(),
        rule.sharing().overdraft(),
        rule.fairShare());
  }

  /** Returns whether it admits everything and counts nothing. */
  public boolean unlimited() {
    return limits.isEmpty();
  }
}
