package io.throttlekit.descriptors.policy;

import org.jspecify.annotations.Nullable;

/** Policies of one domain. Immutable and thread-safe. */
public final class DomainPolicies {
  private final String name;
  private final Level root;

  DomainPolicies(String name, Level root) {
    this.name = name;
    this.root = root;
  }

  /** Returns the domain's name in requests. */
  public String name() {
    return name;
  }

  /**
   * Returns the rule that the entries reach, or {@code null} when none limits them. Each entry
   * looks among the children of the descriptor that the entry before it found; the rule is that of
   * the last descriptor. There is no backtracking. Allocates nothing.
   *
   * @param entries key, value, key, value …
   */
  public @Nullable Rule match(String[] entries) {
    Level level = root;
    Rule rule = null;
    for (int i = 0; i + 1 < entries.length; i += 2) {
      CompiledDescriptor found = level.find(entries[i], entries[i + 1]);
      if (found == null) {
        return null;
      }
      rule = found.rule;
      level = found.children;
    }
    return rule;
  }

  Level root() {
    return root;
  }
}
