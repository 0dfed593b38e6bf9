package io.throttlekit.descriptors.lint;

import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.WildcardPattern;
import io.throttlekit.descriptors.source.Problem;
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
    List<Wildcard> wildcards = wildcards(level);
    int passed = 0;
    for (DescriptorNode descriptor : level) {
      if (tired()) {
        return;
      }
      Problem problem = inspect(descriptor, wildcards.subList(0, passed), wildcards);
      passed += descriptor.wildcard() ? 1 : 0;
      if (tired()) {
        problems.warning(
            descriptor.location(),
            "the search for descriptors that never match ends here: there are too many wildcards"
                + " to compare each with each",
            "the policies are active all the same; fewer wildcards are faster to match too");
        return;
      }
      if (problem != null) {
        problems.add(problem);
      }
      if (problem == null || foundByItsText(descriptor)) {
        inspect(descriptor.children());
      }
    }
  }

  private boolean tired() {
    return compared > MAX_COMPARED;
  }

  private @Nullable Problem inspect(
      DescriptorNode descriptor, List<Wildcard> earlier, List<Wildcard> wildcards) {
    if (descriptor.wildcard()) {
      return hiddenWildcard(earlier, descriptor);
    }
    return descriptor.value().isEmpty() ? hiddenDefault(wildcards, descriptor) : null;
  }

  private static List<Wildcard> wildcards(List<DescriptorNode> level) {
    return level.stream()
        .filter(DescriptorNode::wildcard)
        .map(source -> new Wildcard(source, WildcardPattern.of(source.composite())))
        .toList();
  }

  private @Nullable Problem hiddenWildcard(List<Wildcard> earlier, DescriptorNode descriptor) {
    List<DescriptorNode> takers = new ArrayList<>();
    String pattern = descriptor.composite();
    boolean anySplit = pattern.indexOf('_') >= 0;
    for (int star = pattern.indexOf('*'); star >= 0; star = pattern.indexOf('*', star + 1)) {
      DescriptorNode taker =
          firstWildcard(earlier, anySplit ? pattern : withUnderscore(pattern, star));
      if (taker == null) {
        return null;
      }
      if (!takers.contains(taker)) {
        takers.add(taker);
      }
      if (anySplit) {
        break; // the other stars give the same text
      }
    }
    return Problem.warning(
        descriptor.location(),
        "wildcard %s%s: everything %sit describes is taken first by %s"
            .formatted(
                quoted(descriptor),
                neverMatches(descriptor),
                foundByItsText(descriptor) ? "else " : "",
                listed(takers)),
        "move it before " + quoted(takers.getFirst()));
  }

  private @Nullable Problem hiddenDefault(List<Wildcard> wildcards, DescriptorNode descriptor) {
    DescriptorNode taker = firstWildcard(wildcards, descriptor.key() + "_*");
    if (taker == null) {
      return null;
    }
    return Problem.warning(
        descriptor.location(),
        "default of %s%s: every value of that key is taken first by %s"
            .formatted(quoted(descriptor), neverMatches(descriptor), listed(List.of(taker))),
        "state it in the wildcard's place, or narrow the wildcard");
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
