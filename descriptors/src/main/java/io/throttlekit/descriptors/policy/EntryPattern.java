package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.policy.Explanation.MatchedBy;
import org.jspecify.annotations.Nullable;

/**
 * Pattern by which a policy's descriptor matches an entry of a request.
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
   * Returns how an entry that found this descriptor matched it. The other descriptors need not be
   * looked at: had an earlier wildcard matched, the entry would have found that one.
   */
  MatchedBy matchedBy(String key, String value) {
    if (Level.isText(composite, key, value)) {
      return MatchedBy.EXACT;
    }
    return wildcard != null && wildcard.matches(key, value)
        ? MatchedBy.WILDCARD
        : MatchedBy.DEFAULT;
  }

  /** Returns the text that replaces the value of an entry with {@code key}: the pattern. */
  String sharedValue(String key) {
    int valueAt = key.length() + 1;
    return composite.length() >= valueAt
            && composite.startsWith(key)
            && composite.charAt(key.length()) == '_'
        ? composite.substring(valueAt)
        : composite; // the pattern covers the key too
  }
}
