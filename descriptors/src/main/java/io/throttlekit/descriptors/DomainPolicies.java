package io.throttlekit.descriptors;

import org.jspecify.annotations.Nullable;

/** The policies of one domain. Immutable and thread-safe. */
public final class DomainPolicies {
  private final String name;
  private final Level root;

  DomainPolicies(String name, Level root) {
    this.name = name;
    this.root = root;
  }

  /** The domain that requests name. */
  public String name() {
    return name;
  }

  /**
   * The rule that the entries reach, or {@code null} when nothing limits them: the rule stands at
   * the descriptor that the last entry finds, each entry looking among the children of what the one
   * before it found. There is no second try. Allocates nothing.
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
