package io.throttlekit.descriptors;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds descriptors that no request can find in the way they are written: wildcards whose every
 * text an earlier wildcard takes, and defaults whose every value a wildcard takes. What stands
 * below such a descriptor is as unreachable and not listed again.
 *
 * <p>The answer is exact. Put a character that no pattern contains in place of each star of a
 * pattern P. An earlier pattern that describes that text covers the character with a star, and so
 * describes every text of P; and if earlier patterns together describe every text of P, one of them
 * describes that text. As every text of a request contains an underscore, a pattern without one is
 * tried with an underscore in each of its stars in turn.
 */
final class UnreachableRules {
  private static final String ANYTHING = "\uFFFF"; // not a character that a policy can contain

  private static final long MAX_COMPARED = 1_000_000;

  private UnreachableRules() {}

  /** One finding per cause, in the order of the files. */
  static List<Finding> find(Map<String, List<DescriptorNode>> domains) {
    List<Finding> findings = new ArrayList<>();
    domains.values().forEach(descriptors -> inspect(descriptors, findings));
    return List.copyOf(findings);
  }

  /** Why nothing finds {@code level.get(index)} as it is written, or {@code null}. */
  static @Nullable Finding inspect(List<DescriptorNode> level, int index) {
    return inspect(level.get(index), wildcards(level.subList(0, index)), wildcards(level));
  }

  private static void inspect(List<DescriptorNode> level, List<Finding> findings) {
    List<DescriptorNode> wildcards = wildcards(level);
    // Comparing each with each takes too long for a huge level, and advice is not worth a wait.
    boolean advisable = (long) wildcards.size() * level.size() <= MAX_COMPARED;
    int passed = 0;
    for (DescriptorNode descriptor : level) {
      Finding finding =
          advisable ? inspect(descriptor, wildcards.subList(0, passed), wildcards) : null;
      passed += descriptor.wildcard() ? 1 : 0;
      if (finding == null) {
        inspect(descriptor.children(), findings);
      } else {
        findings.add(finding);
      }
    }
  }

  private static @Nullable Finding inspect(
      DescriptorNode descriptor, List<DescriptorNode> earlier, List<DescriptorNode> wildcards) {
    if (descriptor.wildcard()) {
      return hiddenWildcard(earlier, descriptor);
    }
    return descriptor.value().isEmpty() ? hiddenDefault(wildcards, descriptor) : null;
  }

  private static List<DescriptorNode> wildcards(List<DescriptorNode> level) {
    return level.stream().filter(DescriptorNode::wildcard).toList();
  }

  private static @Nullable Finding hiddenWildcard(
      List<DescriptorNode> earlier, DescriptorNode descriptor) {
    List<DescriptorNode> takers = new ArrayList<>();
    for (String text : representatives(descriptor.composite())) {
      DescriptorNode taker = firstWildcard(earlier, text);
      if (taker == null) {
        return null;
      }
      if (!takers.contains(taker)) {
        takers.add(taker);
      }
    }
    return new Finding(
        descriptor.location(),
        "wildcard "
            + quoted(descriptor)
            + " never matches"
            + below(descriptor)
            + ": everything it describes is taken first by "
            + listed(takers),
        "move it before " + quoted(takers.getFirst()));
  }

  private static @Nullable Finding hiddenDefault(
      List<DescriptorNode> wildcards, DescriptorNode descriptor) {
    String key = descriptor.key();
    DescriptorNode taker = firstWildcard(wildcards, key + '_' + ANYTHING);
    if (taker == null) {
      return null;
    }
    return new Finding(
        descriptor.location(),
        "default of "
            + quoted(descriptor)
            + " never matches"
            + below(descriptor)
            + ": every value is taken first by "
            + listed(List.of(taker)),
        "state it in the wildcard's place, or narrow the wildcard");
  }

  /** Texts such that whoever describes them describes all that the pattern does in a request. */
  private static List<String> representatives(String pattern) {
    if (pattern.indexOf('_') >= 0) {
      return List.of(pattern.replace("*", ANYTHING));
    }
    List<String> texts = new ArrayList<>();
    for (int star = pattern.indexOf('*'); star >= 0; star = pattern.indexOf('*', star + 1)) {
      String withUnderscore =
          pattern.substring(0, star) + ANYTHING + '_' + ANYTHING + pattern.substring(star + 1);
      texts.add(withUnderscore.replace("*", ANYTHING));
    }
    return texts;
  }

  private static @Nullable DescriptorNode firstWildcard(
      List<DescriptorNode> wildcards, String text) {
    int split = text.indexOf('_'); // any split: patterns are compared with the whole text
    String key = text.substring(0, split);
    String value = text.substring(split + 1);
    for (DescriptorNode candidate : wildcards) {
      if (WildcardPattern.of(candidate.composite()).matches(key, value)) {
        return candidate;
      }
    }
    return null;
  }

  private static String below(DescriptorNode descriptor) {
    return descriptor.children().isEmpty() ? "" : ", nor what is below it";
  }

  private static String listed(List<DescriptorNode> takers) {
    return String.join(
        " and ",
        takers.stream().map(taker -> quoted(taker) + " (" + taker.location() + ')').toList());
  }

  private static String quoted(DescriptorNode descriptor) {
    return '`' + descriptor.composite() + '`';
  }
}
