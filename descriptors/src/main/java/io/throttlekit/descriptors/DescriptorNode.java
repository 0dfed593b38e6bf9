package io.throttlekit.descriptors;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Descriptor as written in a policy file; an empty {@code value} makes it the key's default. */
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

  /** Creates the node that an entry finds which only names the priority of a request. */
  static DescriptorNode ofPriority(SourceLocation location, String key) {
    return new DescriptorNode(location, key, "", false, false, false, null, List.of());
  }

  /** Returns the text that requests are compared with: the key, or {@code key_value}. */
  String composite() {
    return value.isEmpty() ? key : key + '_' + value;
  }

  /** Returns whether the composite text is also a pattern. */
  boolean wildcard() {
    return key.indexOf('*') >= 0 || value.indexOf('*') >= 0;
  }
}
