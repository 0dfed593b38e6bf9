package io.throttlekit.service.generated;

import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.RandomPolicies.Policy;
import io.throttlekit.descriptors.policy.ReferenceMatcher;
import io.throttlekit.descriptors.policy.ReferenceRule;
import io.throttlekit.rate.FixedWindow;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One descriptor of a message as {@link ReferenceService} understands it.
 *
 * @param rule the rule that limits it; null for none
 * @param charged the entries that name its counters
 * @param cost below 0 for a refund, 0 for a peek
 * @param refund whether it is a refund, even of nothing
 * @param override whether the rule came with the message
 * @param shared whether others with other values have the same counter
 * @param tenant the tenant, if the limits are divided; then each entry of {@code charged} is common
 */
record ReferenceRequest(
    @Nullable ReferenceRule rule,
    List<String> charged,
    long cost,
    boolean refund,
    boolean override,
    boolean shared,
    ReferenceMatcher.@Nullable Tenant tenant) {
  private static final int MAX_DESCRIPTORS = 200;
  private static final BigInteger MAX_HITS = BigInteger.TWO.pow(53).subtract(BigInteger.ONE);
  private static final LimitUnit[] UNITS = {
    LimitUnit.SECOND,
    LimitUnit.MINUTE,
    LimitUnit.HOUR,
    LimitUnit.DAY,
    LimitUnit.MONTH,
    LimitUnit.YEAR,
    LimitUnit.WEEK
  };

  /** Returns whether a message is complete and valid. */
  static boolean valid(RateLimitRequest message) {
    int descriptors = message.getDescriptorsCount();
    return !message.getDomain().isEmpty()
        && descriptors >= 1
        && descriptors <= MAX_DESCRIPTORS
        && message.getDescriptorsList().stream().allMatch(ReferenceRequest::valid);
  }

  private static boolean valid(RateLimitDescriptor descriptor) {
    BigInteger hits = new BigInteger(Long.toUnsignedString(descriptor.getHitsAddend().getValue()));
    int unit = descriptor.getLimit().getUnitValue();
    return hits.compareTo(MAX_HITS) <= 0
        && (!descriptor.hasLimit() || (unit >= 1 && unit <= UNITS.length));
  }

  static ReferenceRequest of(
      @Nullable Policy policy, RateLimitRequest message, RateLimitDescriptor descriptor) {
    long hits = Math.max(1, message.getHitsAddend() & 0xFFFF_FFFFL);
    if (descriptor.hasHitsAddend()) {
      hits = descriptor.getHitsAddend().getValue();
    }
    boolean refund = isRefund(descriptor.getUnknownFields());
    long cost = refund ? -hits : hits;
    List<String> entries = new ArrayList<>();
    descriptor
        .getEntriesList()
        .forEach(entry -> {
          entries.add(entry.getKey());
          entries.add(entry.getValue());
        });
    if (policy == null) {
      return new ReferenceRequest(null, entries, cost, refund, false, false, null);
    }
    if (descriptor.hasLimit()) {
      ReferenceRule rule = rule(descriptor.getLimit());
      return new ReferenceRequest(rule, entries, cost, refund, true, false, null);
    }
    ReferenceMatcher.Walk walk = ReferenceMatcher.match(policy, entries.toArray(String[]::new));
    List<String> charged = walk.chargedEntries();
    boolean shared = walk.rule() != null && !charged.equals(entries);
    return new ReferenceRequest(walk.rule(), charged, cost, refund, false, shared, walk.tenant());
  }

  /** Returns the same for a descriptor without a limit. */
  ReferenceRequest unmatched() {
    return new ReferenceRequest(null, charged, cost, refund, override, shared, null);
  }

  /** Returns how the limits are divided; only for a {@link #tenant}. */
  FairShare share() {
    return Objects.requireNonNull(Objects.requireNonNull(rule).fairShare());
  }

  boolean unlimited() {
    return rule != null && rule.unlimited();
  }

  List<ReferenceRule.Part> limits() {
    return rule == null ? List.of() : rule.limits();
  }

  /** Whether it refuses only together with the other quotas; then what nothing limits is one. */
  boolean quota(boolean globalMode) {
    return globalMode || (rule != null && rule.quota());
  }

  private static boolean isRefund(UnknownFieldSet unknown) {
    List<Long> written = unknown.getField(4).getVarintList();
    return !written.isEmpty() && written.getLast() != 0;
  }

  private static ReferenceRule rule(RateLimitOverride limit) {
    LimitUnit unit = UNITS[limit.getUnitValue() - 1];
    long requests = limit.getRequestsPerUnit() & 0xFFFF_FFFFL;
    FixedWindow window = new FixedWindow(requests, unit.millis());
    return new ReferenceRule(
        "",
        List.of(new ReferenceRule.Part(window, requests, unit, unit.millis())),
        List.of(),
        false,
        false,
        false,
        null);
  }
}
