package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.policy.Explanation.MatchedBy;
import io.throttlekit.descriptors.policy.Explanation.NearMiss;
import io.throttlekit.descriptors.policy.Explanation.NearMiss.Kind;
import io.throttlekit.descriptors.source.Wording;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds rules that a request without a rule nearly matches, and describes the difference. */
final class NearMisses {
  // Enough to point at a mistake; the rest would be noise.
  private static final int MAX_PER_KIND = 3;
  private static final int MAX_ENTRIES_TO_REORDER = 5; // 120 orders

  private final Level policies;
  private final String[] entries;
  private final List<NearMiss> found = new ArrayList<>();
  private final Set<Rule> lacking = new HashSet<>(); // rules that more entries would reach

  NearMisses(Level policies, String[] entries) {
    this.policies = policies;
    this.entries = entries;
  }

  /**
   * Returns near misses of a request whose entry at {@code index} found nothing in {@code level}.
   */
  List<NearMiss> ofEntry(Level level, int index) {
    String key = entries[index];
    String value = entries[index + 1];
    for (CompiledDescriptor descriptor : level.inOrder()) {
      compare(descriptor, key, value);
    }
    elsewhere();
    return likeliestFirst();
  }

  /** Returns near misses of a request whose last entry found a descriptor without limit. */
  List<NearMiss> below(CompiledDescriptor last) {
    for (CompiledDescriptor child : last.children.inOrder()) {
      rulesBelow(child, child.composite, 1);
    }
    elsewhere();
    return likeliestFirst();
  }

  private List<NearMiss> likeliestFirst() {
    return found.stream().sorted(Comparator.comparing(NearMiss::kind)).toList();
  }

  private void compare(CompiledDescriptor descriptor, String key, String value) {
    DescriptorNode source = descriptor.expects.source();
    if (source.key().equals(key)) {
      if (source.value().equalsIgnoreCase(value)) {
        differsInCase("value", value, source.value(), descriptor);
      } else if (source.wildcard()) {
        add(
            Kind.PATTERN,
            "value `%s` is not matched by pattern `%s` (%s)"
                .formatted(value, source.value(), descriptor.location()));
      } else {
        add(
            Kind.VALUE,
            "key `%s` has no default; `%s` is stated at %s"
                .formatted(key, source.value(), descriptor.location()));
      }
    } else if (source.key().equalsIgnoreCase(key)) {
      differsInCase("key", key, source.key(), descriptor);
    } else if (Wording.nearest(key, List.of(source.key())) != null) {
      add(
          Kind.SPELLING,
          "key `%s` is nearly `%s` (%s)".formatted(key, source.key(), descriptor.location()));
    }
  }

  private void differsInCase(String what, String written, String known, CompiledDescriptor at) {
    add(
        Kind.CASE,
        "%s `%s` differs only in case from `%s` (%s)"
            .formatted(what, written, known, at.location()));
  }

  private void rulesBelow(CompiledDescriptor descriptor, String missing, int count) {
    Rule rule = descriptor.rule;
    if (rule != null && lacking.add(rule)) { // own entries lead to it again
      add(
          Kind.MORE_ENTRIES,
          "%s needs %s: %s"
              .formatted(
                  named(rule), count == 1 ? "one more entry" : count + " more entries", missing));
    }
    for (CompiledDescriptor child : descriptor.children.inOrder()) {
      rulesBelow(child, missing + ", " + child.composite, count + 1);
    }
  }

  /** Tries small changes of the request that do not depend on where it failed. */
  private void elsewhere() {
    Rule hidden = anyChoice(policies, 0);
    if (hidden != null) {
      add(
          Kind.HIDDEN,
          "the entries also fit %s, but a more specific descriptor is found first"
              .formatted(named(hidden)));
    }
    for (int i = 0; entries.length > 2 && i < entries.length; i += 2) {
      withoutEntry(i);
    }
    if (entries.length > 2 && entries.length <= 2 * MAX_ENTRIES_TO_REORDER) {
      reorder(new String[entries.length], 0, 0);
    }
  }

  /**
   * Returns a rule that the entries reach when any matching descriptor may be chosen, not only the
   * first.
   */
  private @Nullable Rule anyChoice(Level level, int index) {
    String key = entries[index];
    String value = entries[index + 1];
    for (CompiledDescriptor descriptor : level.inOrder()) {
      // The method matchedBy returns DEFAULT for every other text, so the key is compared here.
      boolean byText =
          !descriptor.own && descriptor.expects.matchedBy(key, value) != MatchedBy.DEFAULT;
      if (!byText && !descriptor.composite.equals(key)) {
        continue; // no match
      }
      boolean last = index + 2 == entries.length;
      Rule rule = last ? descriptor.rule : anyChoice(descriptor.children, index + 2);
      if (rule != null) {
        return rule;
      }
    }
    return null;
  }

  private void withoutEntry(int index) {
    String[] fewer = new String[entries.length - 2];
    System.arraycopy(entries, 0, fewer, 0, index);
    System.arraycopy(entries, index + 2, fewer, index, fewer.length - index);
    Rule rule = policies.match(fewer);
    if (rule != null) {
      add(
          Kind.FEWER_ENTRIES,
          "without entry %d %s=%s, %s matches"
              .formatted(index / 2 + 1, entries[index], entries[index + 1], named(rule)));
    }
  }

  private void reorder(String[] order, int filled, int used) {
    if (filled == order.length) {
      Rule rule = policies.match(order);
      if (rule != null) {
        add(
            Kind.ORDER,
            "the same entries in another order match %s: %s".formatted(named(rule), text(order)));
      }
      return;
    }
    for (int i = 0; i < entries.length; i += 2) {
      if ((used & (1 << i)) == 0) {
        order[filled] = entries[i];
        order[filled + 1] = entries[i + 1];
        reorder(order, filled + 2, used | (1 << i));
      }
    }
  }

  private void add(Kind kind, String message) {
    NearMiss miss = new NearMiss(kind, message);
    long alike = found.stream().filter(other -> other.kind() == kind).count();
    if (alike < MAX_PER_KIND && !found.contains(miss)) {
      found.add(miss);
    }
  }

  private static String named(Rule rule) {
    return "rule `" + rule.path() + "` at " + rule.location();
  }

  private static String text(String[] entries) {
    List<String> pairs = new ArrayList<>();
    for (int i = 0; i < entries.length; i += 2) {
      pairs.add(entries[i] + "=" + entries[i + 1]);
    }
    return String.join(", ", pairs);
  }
}
