package io.throttlekit.descriptors;

import org.jspecify.annotations.Nullable;

/**
 * What a descriptor of a policy expects of an entry.
 *
 * @param source the descriptor
 * @param composite the text that requests are compared with: the key, or {@code key_value}
 * @param wildcard the same text as a pattern, when it contains a {@code *}
 */
record EntryPattern(DescriptorNode source, String composite, @Nullable WildcardPattern wildcard) {

  static EntryPattern of(DescriptorNode source) {
    String composite = source.composite();
    return new EntryPattern(
        source, composite, source.wildcard() ? WildcardPattern.of(composite) : null);
  }

  /**
   * How an entry that found this descriptor found it. The descriptor and the entry suffice: were a
   * wildcard that describes the text not the one found, an earlier wildcard would have been.
   */
  MatchedBy matchedBy(String key, String value) {
    if (CompositeText.equals(composite, key, value)) {
      return MatchedBy.EXACT;
    }
    return wildcard != null && wildcard.matches(key, value)
        ? MatchedBy.WILDCARD
        : MatchedBy.DEFAULT;
  }

  /** The policy's string for an equal key. */
  String ownKey(String key) {
    return source.key().equals(key) ? source.key() : key;
  }

  /** The policy's string for an equal value. */
  String ownValue(String value) {
    return source.value().equals(value) ? source.value() : value;
  }

  /** Whether an entry that found this descriptor is charged under the pattern, not its value. */
  boolean shares(String key, String value) {
    return source.shareThreshold() && matchedBy(key, value) == MatchedBy.WILDCARD;
  }

  /** The pattern in place of the value of an entry with {@code key}. */
  String sharedValue(String key) {
    int valueAt = key.length() + 1;
    return composite.length() >= valueAt
            && composite.startsWith(key)
            && composite.charAt(key.length()) == '_'
        ? composite.substring(valueAt)
        : composite; // the pattern covers the key too
  }
}
