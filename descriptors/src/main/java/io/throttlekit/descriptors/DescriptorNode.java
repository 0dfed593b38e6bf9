package io.throttlekit.descriptors;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A descriptor as a policy file states it; an empty {@code value} is the key's default. */
record DescriptorNode(
    SourceLocation location,
    String key,
    String value,
    boolean shareThreshold,
    boolean valueToMetric,
    boolean detailedMetric,
    @Nullable RuleSpec rule,
    List<DescriptorNode> children) {

  DescriptorNode {
    children = List.copyOf(children);
  }

  /** What an entry finds that only names the priority of a request. */
  static DescriptorNode ofPriority(SourceLocation location, String key) {
    return new DescriptorNode(location, key, "", false, false, false, null, List.of());
  }

  /** What requests are compared with: the key, or {@code key_value}. */
  String composite() {
    return value.isEmpty() ? key : key + '_' + value;
  }

  /** Whether the composite text is also a pattern. */
  boolean wildcard() {
    return key.indexOf('*') >= 0 || value.indexOf('*') >= 0;
  }
}
