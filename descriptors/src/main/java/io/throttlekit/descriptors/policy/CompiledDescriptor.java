package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.source.SourceLocation;
import org.jspecify.annotations.Nullable;

/** Descriptor of a policy book, compiled for matching. Immutable. */
final class CompiledDescriptor {
  final EntryPattern expects;
  final String composite;
  final @Nullable WildcardPattern wildcard;
  final @Nullable Rule rule;
  final Level children;

  /** Whether it is found by the key alone, whatever the value: it names something for the rule. */
  final boolean own;

  CompiledDescriptor(EntryPattern expects, @Nullable Rule rule, Level children) {
    this(expects, rule, children, false);
  }

  CompiledDescriptor(EntryPattern expects, @Nullable Rule rule, Level children, boolean own) {
    this.expects = expects;
    this.composite = expects.composite();
    this.wildcard = expects.wildcard();
    this.rule = rule;
    this.children = children;
    this.own = own;
  }

  SourceLocation location() {
    return expects.source().location();
  }
}
