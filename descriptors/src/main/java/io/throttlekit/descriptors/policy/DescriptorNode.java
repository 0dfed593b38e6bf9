package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.source.SourceLocation;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Descriptor as written in a policy file; an empty {@code value} makes it the key's default. */
public record DescriptorNode(
    SourceLocation location,
    String key,
    String value,
    boolean shareThreshold,
    boolean valueToMetric,
    boolean detailedMetric,
    @Nullable RuleSpec rule,
    List<DescriptorNode> children) {

  /** Copies the list. */
  public DescriptorNode {
    children = List.copyOf(children);
  }

  /** Creates the node that an entry of any value finds, without a rule or children. */
  static DescriptorNode ofAny(SourceLocation location, String key) {
    return new DescriptorNode(location, key, "", false, false, false, null, List.of());
  }

  /** Returns the rules of these descriptors and of all below them, in the order of the files. */
  public static Stream<RuleSpec> rules(List<DescriptorNode> level) {
    return level.stream()
        .flatMap(node -> Stream.concat(Stream.ofNullable(node.rule()), rules(node.children())));
  }

  /** Returns the text that requests are compared with: the key, or {@code key_value}. */
  public String composite() {
    return value.isEmpty() ? key : key + '_' + value;
  }

  /** Returns whether the composite text is also a pattern. */
  public boolean wildcard() {
    return key.indexOf('*') >= 0 || value.indexOf('*') >= 0;
  }

  /** Returns whether an entry matches it: as a text, as a pattern, or as the key's default. */
  public boolean matches(String entryKey, String entryValue) {
    return composite().equals(entryKey)
        || Level.isText(composite(), entryKey, entryValue)
        || (wildcard() && WildcardPattern.of(composite()).matches(entryKey, entryValue));
  }

  /** Returns whether there is a value with which an entry of this key matches it. */
  public boolean matchesSomeValueOf(String entryKey) {
    String text = composite();
    String prefix = entryKey + '_';
    // The value is free, so a pattern matches one if its text before the first star agrees.
    int star = text.indexOf('*');
    return text.equals(entryKey)
        || text.startsWith(prefix)
        || (star >= 0 && prefix.startsWith(text.substring(0, star)));
  }
}
