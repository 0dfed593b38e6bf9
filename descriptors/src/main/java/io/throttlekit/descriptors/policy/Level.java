package io.throttlekit.descriptors.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Descriptors below one descriptor of a policy, or all at the root of a domain. Immutable and
 * thread-safe; a lookup does not allocate.
 *
 * <p>An entry (k, v) finds, in this order: the descriptor whose text is {@code k_v}; the first
 * wildcard in the policy's order that matches {@code k_v}; the descriptor whose text is {@code k}.
 * Texts are compared, not keys and values, so {@code key: a_b} is also found by a=b. The text
 * {@code k_v} of an entry is compared and hashed without building it.
 *
 * <p>Last come the entries that only name something for the rule above, such as its priority. They
 * are found by their key alone, so that no value of one can be mistaken for another one: a tenant
 * {@code org=plan} is no {@code org_plan}.
 */
public final class Level {
  /**
   * Number of slots probed before the binary search. It bounds the cost of texts with equal hash
   * codes, which are easily made on purpose, and of clusters of neighbouring hash codes, which
   * arise by chance.
   */
  private static final int MAX_PROBES = 32;

  static final Level EMPTY = new Level(List.of());

  private final List<CompiledDescriptor> inOrder;
  private final @Nullable CompiledDescriptor[] table; // open addressing, at most half full
  private final int probes; // each descriptor in the table is found within so many
  private final CompiledDescriptor[] crowded; // descriptors without room near their slot, by text
  private final String[] crowdedTexts; // of each of these
  private final CompiledDescriptor[] wildcards;
  private final CompiledDescriptor[] own;
  private final boolean anyWithValue;

  /** Creates a level of descriptors in the policy's order; two with the same text are an error. */
  Level(List<CompiledDescriptor> all) {
    this.inOrder = List.copyOf(all);
    this.own = all.stream().filter(d -> d.own).toArray(CompiledDescriptor[]::new);
    List<CompiledDescriptor> descriptors = all.stream().filter(d -> !d.own).toList();
    this.wildcards =
        descriptors.stream().filter(d -> d.wildcard != null).toArray(CompiledDescriptor[]::new);
    this.anyWithValue = descriptors.stream().anyMatch(d -> d.composite.indexOf('_') >= 0);
    // A power of two, so that a mask selects the slot.
    this.table = new CompiledDescriptor[Integer.highestOneBit(descriptors.size() * 2 + 1) * 2];
    checkDistinct(descriptors);
    List<CompiledDescriptor> roomless = new ArrayList<>();
    int most = 1;
    for (CompiledDescriptor descriptor : descriptors) {
      int needed = insert(descriptor);
      most = Math.max(most, needed);
      if (needed == 0) {
        roomless.add(descriptor);
      }
    }
    this.probes = roomless.isEmpty() ? most : MAX_PROBES;
    roomless.sort(Comparator.comparing(descriptor -> descriptor.composite));
    this.crowded = roomless.toArray(CompiledDescriptor[]::new);
    this.crowdedTexts = roomless.stream().map(d -> d.composite).toArray(String[]::new);
  }

  /**
   * Returns the rule that the entries reach, or {@code null} when none limits them. Each entry
   * looks among the children of the descriptor that the entry before it found; the rule is that of
   * the last descriptor. There is no backtracking. Allocates nothing.
   *
   * @param entries key, value, key, value …
   */
  public @Nullable Rule match(String[] entries) {
    Level level = this;
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

  List<CompiledDescriptor> inOrder() {
    return inOrder;
  }

  boolean isEmpty() {
    return inOrder.isEmpty();
  }

  /** Returns the descriptor that the entry finds, or {@code null}. */
  @Nullable CompiledDescriptor find(String key, String value) {
    // No lookup where no text has an underscore, as with descriptors that are keys only.
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
    CompiledDescriptor byKey = withText(key);
    return byKey != null || own.length == 0 ? byKey : amongOwn(key);
  }

  private @Nullable CompiledDescriptor amongOwn(String key) {
    for (CompiledDescriptor candidate : own) {
      if (candidate.composite.equals(key)) {
        return candidate;
      }
    }
    return null;
  }

  private @Nullable CompiledDescriptor exactly(String key, String value) {
    int slot = slotOf(hashOf(key, value));
    for (int i = 0; i < probes; i++, slot = next(slot)) {
      CompiledDescriptor candidate = table[slot];
      if (candidate == null || isText(candidate.composite, key, value)) {
        return candidate;
      }
    }
    return amongCrowded(key, value);
  }

  /** Returns the descriptor whose text is {@code text}, or {@code null}. */
  @Nullable CompiledDescriptor withText(String text) {
    int slot = slotOf(text.hashCode());
    for (int i = 0; i < probes; i++, slot = next(slot)) {
      CompiledDescriptor candidate = table[slot];
      if (candidate == null || candidate.composite.equals(text)) {
        return candidate;
      }
    }
    int crowdedAt = Arrays.binarySearch(crowdedTexts, text);
    return crowdedAt < 0 ? null : crowded[crowdedAt];
  }

  private @Nullable CompiledDescriptor amongCrowded(String key, String value) {
    int low = 0;
    for (int high = crowded.length - 1; low <= high; ) {
      int middle = (low + high) >>> 1;
      int order = compare(crowdedTexts[middle], key, value);
      if (order == 0) {
        return crowded[middle];
      }
      low = order < 0 ? middle + 1 : low;
      high = order < 0 ? high : middle - 1;
    }
    return null;
  }

  private static void checkDistinct(List<CompiledDescriptor> descriptors) {
    Map<String, CompiledDescriptor> known = new HashMap<>();
    for (CompiledDescriptor descriptor : descriptors) {
      CompiledDescriptor same = known.putIfAbsent(descriptor.composite, descriptor);
      if (same != null) {
        throw new IllegalArgumentException(
            descriptor.location()
                + ": the text "
                + descriptor.composite
                + " is taken by the descriptor at "
                + same.location());
      }
    }
  }

  /**
   * Inserts the descriptor; returns the number of slots probed, or 0 when there is no room for it.
   */
  private int insert(CompiledDescriptor descriptor) {
    int slot = slotOf(descriptor.composite.hashCode());
    for (int probe = 1; probe <= MAX_PROBES; probe++, slot = next(slot)) {
      if (table[slot] == null) {
        table[slot] = descriptor;
        return probe;
      }
    }
    return 0;
  }

  private int slotOf(int hash) {
    // Folds the high bits in, as HashMap does: the mask drops them.
    return (hash ^ (hash >>> 16)) & (table.length - 1);
  }

  private int next(int slot) {
    return (slot + 1) & (table.length - 1);
  }

  /** Returns whether {@code text} is the text {@code key_value} of an entry. */
  static boolean isText(String text, String key, String value) {
    int split = key.length();
    return text.length() == split + 1 + value.length()
        && text.charAt(split) == '_'
        && text.startsWith(key)
        && text.startsWith(value, split + 1);
  }

  /**
   * Returns the hash of {@link String} of the text {@code key_value}: {@code h(k_v) = h(k) ·
   * 31^(1+|v|) + '_' · 31^|v| + h(v)}.
   */
  static int hashOf(String key, String value) {
    // By squaring, so that a long value costs its bits; overflow wraps as in String.hashCode.
    int power = 1;
    int square = 31;
    for (int rest = value.length(); rest != 0; rest >>>= 1) {
      if ((rest & 1) != 0) {
        power *= square;
      }
      square *= square;
    }
    return (key.hashCode() * 31 + '_') * power + value.hashCode();
  }

  /** Compares {@code text} with the text {@code key_value}, as {@link String#compareTo} does. */
  static int compare(String text, String key, String value) {
    int length = key.length() + 1 + value.length();
    int common = Math.min(text.length(), length);
    for (int i = 0; i < common; i++) {
      int difference = text.charAt(i) - charAt(key, value, i);
      if (difference != 0) {
        return difference;
      }
    }
    return text.length() - length;
  }

  /** Returns a character of the text {@code key_value}. */
  static char charAt(String key, String value, int index) {
    int afterKey = index - key.length();
    if (afterKey < 0) {
      return key.charAt(index);
    }
    return afterKey == 0 ? '_' : value.charAt(afterKey - 1);
  }
}
