package io.throttlekit.descriptors.lint;

import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.WildcardPattern;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.Wording;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds descriptors that no request reaches as they are written: wildcards whose every text an
 * earlier wildcard matches, and defaults whose every value a wildcard matches. Descriptors below
 * such a one are as unreachable and not listed again, unless the descriptor is still found by its
 * exact text: before any wildcard is tried, the entry a=b finds the key {@code a_b}.
 *
 * <p>The result is exact. Put a character that no pattern contains in place of each star of a
 * pattern P. An earlier pattern that matches that text covers the character with a star, and so
 * matches every text of P; and if earlier patterns together match every text of P, one of them
 * matches that text. As every text of a request contains an underscore, a pattern without one is
 * tried with an underscore in each of its stars in turn.
 *
 * <p>Each wildcard is compared with each other one, which would take too long for huge levels. The
 * search ends after a number of compared characters, and reports that it did.
 */
public final class UnreachableRules {
  private static final String ANYTHING = "\uFFFF"; // not a character that a policy can contain

  /** Limit of characters compared in one load: less than half a second. */
  private static final long MAX_COMPARED = 200_000_000;

  private final Problems problems;
  private long compared;

  private UnreachableRules(Problems problems) {
    this.problems = problems;
  }

  /** Warns once per cause. */
  public static void check(Map<String, List<DescriptorNode>> domains, Problems problems) {
    domains.values().forEach(new UnreachableRules(problems)::inspect);
  }

  private record Wildcard(DescriptorNode source, WildcardPattern pattern) {}

  private void inspect(List<DescriptorNode> level) {
    List<Wildcard> wildcards =
        level.stream()
            .filter(DescriptorNode::wildcard)
            .map(source -> new Wildcard(source, WildcardPattern.of(source.composite())))
            .toList();
    int passed = 0;
    for (DescriptorNode descriptor : level) {
      if (tired()) {
        return;
      }
      List<DescriptorNode> takers = List.of();
      if (descriptor.wildcard()) {
        takers = takers(wildcards.subList(0, passed++), descriptor.composite());
      } else if (descriptor.value().isEmpty()) {
        takers = takers(wildcards, descriptor.key() + "_*");
      }
      if (tired()) {
        problems.warning(
            descriptor.location(),
            "the search for descriptors that never match ends here: there are too many wildcards"
                + " to compare each with each",
            "the policies are active all the same; fewer wildcards are faster to match too");
        return;
      }
      if (!takers.isEmpty()) {
        report(descriptor, takers);
      }
      if (takers.isEmpty() || foundByItsText(descriptor)) {
        inspect(descriptor.children());
      }
    }
  }

  private boolean tired() {
    return compared > MAX_COMPARED;
  }

  /** Returns the wildcards that together match every text of {@code pattern}; empty if none do. */
  private List<DescriptorNode> takers(List<Wildcard> wildcards, String pattern) {
    List<DescriptorNode> takers = new ArrayList<>();
    boolean anySplit = pattern.indexOf('_') >= 0;
    for (int star = pattern.indexOf('*'); star >= 0; star = pattern.indexOf('*', star + 1)) {
      DescriptorNode taker =
          firstWildcard(wildcards, anySplit ? pattern : withUnderscore(pattern, star));
      if (taker == null) {
        return List.of();
      }
      if (!takers.contains(taker)) {
        takers.add(taker);
      }
      if (anySplit) {
        break; // the other stars give the same text
      }
    }
    return takers;
  }

  private void report(DescriptorNode descriptor, List<DescriptorNode> takers) {
    boolean wildcard = descriptor.wildcard();
    String others =
        wildcard
            ? "everything " + (foundByItsText(descriptor) ? "else " : "") + "it describes"
            : "every value of that key";
    problems.warning(
        descriptor.location(),
        "%s %s%s: %s is taken first by %s"
            .formatted(
                wildcard ? "wildcard" : "default of",
                quoted(descriptor),
                neverMatches(descriptor),
                others,
                listed(takers)),
        wildcard
            ? "move it before " + quoted(takers.getFirst())
            : "state it in the wildcard's place, or narrow the wildcard");
  }

  /** Returns a pattern of the texts in which this star of a pattern covers the underscore. */
  private static String withUnderscore(String pattern, int star) {
    return pattern.substring(0, star) + "*_*" + pattern.substring(star + 1);
  }

  /** Returns the first wildcard that matches every text of {@code pattern}. */
  private @Nullable DescriptorNode firstWildcard(List<Wildcard> wildcards, String pattern) {
    compared += pattern.length();
    String text = pattern.replace("*", ANYTHING);
    int split = text.indexOf('_'); // any split: patterns are compared with the whole text
    String key = text.substring(0, split);
    String value = text.substring(split + 1);
    for (Wildcard candidate : wildcards) {
      compared += candidate.pattern().effort(text.length());
      if (tired()) {
        return null;
      }
      if (candidate.pattern().matches(key, value)) {
        return candidate.source();
      }
    }
    return null;
  }

  private static boolean foundByItsText(DescriptorNode descriptor) {
    return descriptor.composite().indexOf('_') >= 0;
  }

  private static String neverMatches(DescriptorNode descriptor) {
    if (foundByItsText(descriptor)) {
      String entry = descriptor.composite().replaceFirst("_", "=");
      return " matches nothing but an entry like " + Wording.quote(entry);
    }
    return " never matches" + (descriptor.children().isEmpty() ? "" : ", nor what is below it");
  }

  private static String listed(List<DescriptorNode> takers) {
    return String.join(
        " and ",
        takers.stream().map(taker -> quoted(taker) + " (" + taker.location() + ')').toList());
  }

  private static String quoted(DescriptorNode descriptor) {
    return Wording.quote(descriptor.composite());
  }
}
