package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.source.SourceLocation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Generates policies and requests that are likely to match, from a few short texts so that
 * composite texts collide: underscores in keys and values, stars anywhere, empty values, patterns
 * as literal values. The same generator state yields the same policies.
 */
public final class RandomPolicies {
  private static final List<String> KEYS =
      List.of("a", "b", "ab", "a_b", "b_", "_a", "_", "A", "*", "a*", "*b", "a*b", "a_*", "é x");
  private static final List<String> VALUES =
      List.of("", "", "a", "b", "ab", "_", "a_b", "b_a", "*", "a*", "*b", "a*b", "**", "x:\"#");
  private static final int MAX_DEPTH = 3;

  private final RandomGenerator random;
  private final RandomRules rules;
  private int ruleCount;
  private int lines;

  /**
   * Creates a generator that draws everything from {@code random}. Rules have the names {@code
   * rule-0}, {@code rule-1} …, and their number as requests per unit.
   */
  public RandomPolicies(RandomGenerator random) {
    this(random, new RandomRules.Plain(random));
  }

  private RandomPolicies(RandomGenerator random, RandomRules rules) {
    this.random = random;
    this.rules = rules;
  }

  /** Creates a generator of policies whose rules use all features. */
  public static RandomPolicies ofEveryKind(RandomGenerator random) {
    return new RandomPolicies(random, new RandomRules.OfEveryKind(random));
  }

  /** A policy of one domain. */
  public static final class Policy {
    private final String domain;
    private final List<DescriptorNode> descriptors;

    public Policy(String domain, List<DescriptorNode> descriptors) {
      this.domain = domain;
      this.descriptors = List.copyOf(descriptors);
    }

    /** Returns the domain. */
    public String domain() {
      return domain;
    }

    /** Returns the policy as a user would write it. */
    public String yaml() {
      StringBuilder yaml = new StringBuilder("domain: " + quoted(domain) + "\ndescriptors:\n");
      render(yaml, descriptors, "  ");
      return yaml.toString();
    }

    public List<DescriptorNode> descriptors() {
      return descriptors;
    }

    Level compiled() {
      Level compiled = PolicyBook.of(Map.of(domain, descriptors)).domain(domain);
      if (compiled == null) {
        throw new AssertionError(domain);
      }
      return compiled;
    }

    @Override
    public String toString() {
      return yaml();
    }
  }

  /** Returns the next policy, of domain {@code domain}. */
  public Policy policy(String domain) {
    ruleCount = 0;
    lines = 0;
    return new Policy(domain, level(1));
  }

  /** Returns entries (key, value, key, value …) that often lead to a rule of the policy. */
  public String[] request(Policy policy) {
    List<String> entries = new ArrayList<>();
    List<DescriptorNode> level = policy.descriptors();
    DescriptorNode last = null;
    while (!level.isEmpty() && random.nextInt(10) > 0) {
      DescriptorNode aim = level.get(random.nextInt(level.size()));
      addEntryFor(aim, entries);
      level = aim.children();
      last = aim;
      if (aim.rule() != null && random.nextInt(3) == 0) {
        break;
      }
    }
    RuleSpec rule = last == null ? null : last.rule();
    if (rule != null && rule.fairShare() != null) {
      addOwnEntries(rule.fairShare(), entries);
    }
    if (random.nextInt(8) == 0) {
      entries.add(pick(KEYS));
      entries.add(pick(VALUES));
    }
    return entries.toArray(String[]::new);
  }

  /** Adds tenant and weight in any order; now and then one of them is missing or twice there. */
  private void addOwnEntries(FairShare share, List<String> entries) {
    boolean weightFirst = random.nextBoolean();
    for (int i = random.nextInt(20) == 0 ? 3 : 2; i > 0; i--) {
      if (weightFirst == (i % 2 == 0)) {
        if (share.weightEntry() != null && random.nextInt(4) > 0) {
          entries.add(share.weightEntry());
          entries.add(pick(List.of("gold", "silver", "none")));
        }
      } else if (random.nextInt(10) > 0) {
        entries.add(share.tenantEntry());
        entries.add(pick(RandomRules.OfEveryKind.TENANTS));
      }
    }
  }

  private void addEntryFor(DescriptorNode aim, List<String> entries) {
    String text = aim.composite();
    switch (random.nextInt(6)) {
      case 0 -> { // any split of the text, or of one that the pattern matches
        String described = described(text);
        int split = described.indexOf('_', random.nextInt(described.length() + 1));
        entries.add(split < 0 ? described : described.substring(0, split));
        entries.add(split < 0 ? "" : described.substring(split + 1));
      }
      case 1, 2 -> {
        entries.add(described(aim.key()));
        entries.add(described(aim.value()));
      }
      case 3 -> {
        entries.add(aim.key());
        entries.add(aim.value());
      }
      case 4 -> {
        entries.add(text);
        entries.add(pick(VALUES));
      }
      default -> {
        entries.add(random.nextInt(4) == 0 ? pick(KEYS) : aim.key());
        entries.add(pick(VALUES));
      }
    }
  }

  private String described(String pattern) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      text.append(c == '*' ? pick(VALUES) : String.valueOf(c));
    }
    return text.toString();
  }

  private List<DescriptorNode> level(int depth) {
    List<DescriptorNode> level = new ArrayList<>();
    Set<String> taken = new HashSet<>();
    int size = 1 + random.nextInt(6);
    for (int i = 0; i < size; i++) {
      String key = pick(KEYS);
      String value = pick(VALUES);
      if (taken.add(value.isEmpty() ? key : key + "_" + value)) {
        level.add(descriptor(depth, key, value));
      }
    }
    return level;
  }

  private DescriptorNode descriptor(int depth, String key, String value) {
    boolean wildcard = (key + value).contains("*");
    boolean limited = random.nextInt(4) > 0;
    SourceLocation location = new SourceLocation("random.yaml", ++lines, 5);
    RuleSpec rule = limited ? rules.rule(location, ruleCount++) : null;
    boolean parent = depth < MAX_DEPTH && random.nextInt(2) == 0;
    boolean shareThreshold = wildcard && random.nextBoolean();
    boolean valueToMetric = random.nextInt(4) == 0;
    boolean detailedMetric = random.nextInt(6) == 0;
    List<DescriptorNode> children = parent ? level(depth + 1) : List.of();
    if (rule != null && children.stream().anyMatch(RandomPolicies::takesAnOwnEntry)) {
      rule = undivided(rule);
    }
    return new DescriptorNode(
        location, key, value, shareThreshold, valueToMetric, detailedMetric, rule, children);
  }

  private static boolean takesAnOwnEntry(DescriptorNode child) {
    return child.matchesSomeValueOf(RandomRules.OfEveryKind.TENANT_ENTRY)
        || child.matchesSomeValueOf(RandomRules.OfEveryKind.WEIGHT_ENTRY);
  }

  private static RuleSpec undivided(RuleSpec rule) {
    return new RuleSpec(
        rule.location(),
        rule.limits(),
        rule.name(),
        rule.replaces(),
        rule.shadow(),
        rule.quota(),
        rule.sharing(),
        rule.metadata(),
        rule.concurrency(),
        rule.denial(),
        null);
  }

  private String pick(List<String> texts) {
    return texts.get(random.nextInt(texts.size()));
  }

  private static void render(StringBuilder yaml, List<DescriptorNode> level, String indent) {
    for (DescriptorNode descriptor : level) {
      yaml.append(indent).append("- key: ").append(quoted(descriptor.key())).append('\n');
      String inner = indent + "  ";
      if (!descriptor.value().isEmpty()) {
        yaml.append(inner).append("value: ").append(quoted(descriptor.value())).append('\n');
      }
      flag(yaml, inner, "share_threshold", descriptor.shareThreshold());
      flag(yaml, inner, "value_to_metric", descriptor.valueToMetric());
      flag(yaml, inner, "detailed_metric", descriptor.detailedMetric());
      RuleSpec rule = descriptor.rule();
      if (rule != null) {
        new RuleText(yaml).append(rule, inner);
      }
      if (!descriptor.children().isEmpty()) {
        yaml.append(inner).append("descriptors:\n");
        render(yaml, descriptor.children(), inner + "  ");
      }
    }
  }

  private static void flag(StringBuilder yaml, String indent, String name, boolean set) {
    if (set) {
      yaml.append(indent).append(name).append(": true\n");
    }
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
