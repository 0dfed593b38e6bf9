package io.throttlekit.descriptors;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The descriptors below one descriptor of a policy, or at its root. Finding one does not allocate.
 *
 * <p>An entry (k, v) finds, in this order: the descriptor whose text is {@code k_v}; the first
 * wildcard in order of the policy that describes {@code k_v}; the descriptor whose text is {@code
 * k}. Texts are compared, not keys and values, so {@code key: a_b} is also found by a=b.
 */
final class Level {
  static final Level EMPTY = new Level(List.of());

  private final List<CompiledDescriptor> inOrder;
  private final @Nullable CompiledDescriptor[] table; // open addressing, at most half full
  private final CompiledDescriptor[] wildcards;
  private final boolean anyWithValue;

  /** The descriptors in order of the policy; two with the same text are an error. */
  Level(List<CompiledDescriptor> descriptors) {
    this.inOrder = List.copyOf(descriptors);
    this.wildcards =
        descriptors.stream().filter(d -> d.wildcard != null).toArray(CompiledDescriptor[]::new);
    this.anyWithValue = descriptors.stream().anyMatch(d -> d.composite.indexOf('_') >= 0);
    this.table = new CompiledDescriptor[Integer.highestOneBit(descriptors.size() * 2 + 1) * 2];
    for (CompiledDescriptor descriptor : descriptors) {
      insert(descriptor);
    }
  }

  List<CompiledDescriptor> inOrder() {
    return inOrder;
  }

  boolean isEmpty() {
    return inOrder.isEmpty();
  }

  /** The descriptor that the entry finds, or {@code null}. */
  @Nullable CompiledDescriptor find(String key, String value) {
    CompiledDescriptor exact = anyWithValue ? exactly(key, value) : null;
    if (exact != null) {
      return exact;
    }
    for (CompiledDescriptor candidate : wildcards) {
      WildcardPattern pattern = candidate.wildcard;
      if (pattern != null && pattern.matches(key, value)) {
        return candidate;
      }
    }
    return withText(key);
  }

  private @Nullable CompiledDescriptor exactly(String key, String value) {
    for (int slot = slotOf(CompositeText.hash(key, value)); ; slot = next(slot)) {
      CompiledDescriptor candidate = table[slot];
      if (candidate == null || CompositeText.equals(candidate.composite, key, value)) {
        return candidate;
      }
    }
  }

  /** The descriptor whose text is {@code text}, or {@code null}. */
  @Nullable CompiledDescriptor withText(String text) {
    for (int slot = slotOf(text.hashCode()); ; slot = next(slot)) {
      CompiledDescriptor candidate = table[slot];
      if (candidate == null || candidate.composite.equals(text)) {
        return candidate;
      }
    }
  }

  private void insert(CompiledDescriptor descriptor) {
    CompiledDescriptor same = withText(descriptor.composite);
    if (same != null) {
      throw new IllegalArgumentException(
          descriptor.location()
              + ": the text "
              + descriptor.composite
              + " is taken by the descriptor at "
              + same.location());
    }
    int slot = slotOf(descriptor.composite.hashCode());
    while (table[slot] != null) {
      slot = next(slot);
    }
    table[slot] = descriptor;
  }

  private int slotOf(int hash) {
    return (hash ^ (hash >>> 16)) & (table.length - 1);
  }

  private int next(int slot) {
    return (slot + 1) & (table.length - 1);
  }
}
