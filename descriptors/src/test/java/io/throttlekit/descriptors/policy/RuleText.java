package io.throttlekit.descriptors.policy;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A generated rule as a user would write it in YAML. */
public final class RuleText {
  private final StringBuilder yaml;

  public RuleText(StringBuilder yaml) {
    this.yaml = yaml;
  }

  /** Appends the fields of a descriptor whose keys begin at {@code indent}. */
  public void append(RuleSpec rule, String indent) {
    flag(indent, "shadow_mode", rule.shadow());
    flag(indent, "quota_mode", rule.quota());
    if (rule.limits().size() > 1) {
      properties(rule, indent);
      yaml.append(indent).append("limits:\n");
      for (LimitSpec limit : rule.limits()) {
        yaml.append(indent).append("  -\n");
        limit(limit, indent + "    ");
      }
      return;
    }
    yaml.append(indent).append("rate_limit:\n");
    properties(rule, indent + "  ");
    flag(indent + "  ", "unlimited", rule.unlimited());
    for (LimitSpec limit : rule.limits()) {
      limit(limit, indent + "  ");
    }
  }

  private void properties(RuleSpec rule, String indent) {
    if (!rule.name().isEmpty()) {
      yaml.append(indent).append("name: ").append(rule.name()).append('\n');
    }
    flag(indent, "overdraft", rule.sharing().overdraft());
    if (rule.sharing().scope() != Scope.REGION) {
      word(indent, "scope", rule.sharing().scope());
    }
    tier(rule.sharing().tier(), indent);
    if (rule.sharing().onOutage() != OnOutage.ERROR) {
      word(indent, "on_outage", rule.sharing().onOutage());
    }
    if (rule.sharing().onDataLoss() != DataLoss.REFILL) {
      word(indent, "on_data_loss", rule.sharing().onDataLoss());
    }
    FairShare share = rule.fairShare();
    if (share != null) {
      yaml.append(indent).append("fair_share: {").append(text(share)).append("}\n");
    }
    if (!rule.replaces().isEmpty()) {
      yaml.append(indent).append("replaces:\n");
      rule.replaces()
          .forEach(replaced ->
              yaml.append(indent).append("  - name: ").append(replaced.name()).append('\n'));
    }
  }

  private static String text(FairShare share) {
    List<String> fields = new ArrayList<>(List.of("tenant: " + share.tenantEntry()));
    if (share.weightEntry() != null) {
      fields.add("weight_entry: " + share.weightEntry());
    }
    fields.add(
        "weights: {"
            + share.weights().entrySet().stream()
                .map(each -> each.getKey() + ": " + each.getValue())
                .collect(Collectors.joining(", "))
            + "}");
    fields.add("default_weight: " + share.defaultWeight());
    fields.add("max_tenants: " + share.maxTenants());
    fields.add("unlisted_share: " + BigDecimal.valueOf(share.unlistedMillionths(), 6));
    return String.join(", ", fields);
  }

  private void word(String indent, String name, Enum<?> value) {
    String word = value.name().toLowerCase(Locale.ROOT);
    yaml.append(indent).append(name).append(": ").append(word).append('\n');
  }

  private void tier(@Nullable Tier tier, String indent) {
    switch (tier) {
      case null -> {}
      case Tier.Strict _ -> yaml.append(indent).append("tier: strict\n");
      case Tier.CachedDeny _ -> yaml.append(indent).append("tier: cached_deny\n");
      case Tier.Global _ ->
          throw new IllegalArgumentException("a policy says leased, and global of the scope");
      case Tier.Leased leased -> {
        yaml.append(indent).append("tier: leased\n");
        String lease = String.join(", ", lease(leased));
        if (!lease.isEmpty()) {
          yaml.append(indent).append("lease: {").append(lease).append("}\n");
        }
      }
    }
  }

  /** Returns the fields that differ from the defaults. */
  private static List<String> lease(Tier.Leased leased) {
    List<String> lease = new ArrayList<>();
    switch (leased.size()) {
      case LeaseSize.Adaptive _ -> {}
      case LeaseSize.Predictive _ -> lease.add("size: predictive");
      case LeaseSize.Fixed fixed -> lease.add("size: " + fixed.units());
    }
    if (!leased.windowCoupled()) {
      lease.add("window_coupled: false");
    }
    if (leased.lowWater() > 0) {
      lease.add("low_water: " + leased.lowWater());
    }
    long idle = leased.returnIdleAfterMillis();
    if (idle != TierText.RETURN_IDLE_AFTER_MILLIS) {
      lease.add("return_idle_after: " + (idle == 0 ? "0" : idle + "ms"));
    }
    return lease;
  }

  private void limit(LimitSpec limit, String indent) {
    yaml.append(indent).append("requests_per_unit: ").append(limit.requestsPerUnit()).append('\n');
    LimitUnit unit = limit.unit();
    yaml.append(indent)
        .append(
            unit == null
                ? "every: " + limit.windowMillis() + "ms"
                : "unit: " + unit.name().toLowerCase(Locale.ROOT))
        .append('\n');
    if (!limit.algorithm().id().equals("fixed_window")) {
      yaml.append(indent).append("algorithm: ").append(limit.algorithm().id()).append('\n');
    }
    Long burst = RandomRules.burst(limit.algorithm());
    if (burst != null) {
      yaml.append(indent).append("burst: ").append(burst).append('\n');
    }
  }

  private void flag(String indent, String name, boolean set) {
    if (set) {
      yaml.append(indent).append(name).append(": true\n");
    }
  }
}
