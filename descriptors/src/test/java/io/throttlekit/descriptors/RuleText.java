package io.throttlekit.descriptors;

import java.util.Locale;

/** A generated rule as a user would write it in YAML. */
final class RuleText {
  private final StringBuilder yaml;

  RuleText(StringBuilder yaml) {
    this.yaml = yaml;
  }

  /** Appends what stands at a descriptor whose keys begin at {@code indent}. */
  void append(RuleSpec rule, String indent) {
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
    flag(indent, "overdraft", rule.overdraft());
    if (!rule.replaces().isEmpty()) {
      yaml.append(indent).append("replaces:\n");
      rule.replaces()
          .forEach(replaced ->
              yaml.append(indent).append("  - name: ").append(replaced.name()).append('\n'));
    }
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
