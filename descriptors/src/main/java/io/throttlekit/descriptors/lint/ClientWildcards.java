package io.throttlekit.descriptors.lint;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.RuleSpec;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Warns of wildcards that a client can bypass: each value that they match has a counter of its own,
 * and clients choose these values, as {@code /search?q=1} and {@code /search?q=2}.
 *
 * <p>Whether clients choose a value is known by the words of the key, because a policy does not
 * contain Envoy's actions. Wildcards over users or addresses are not reported: one counter for each
 * of them is the usual intention.
 */
public final class ClientWildcards {
  /** Words of keys whose values are parts of a request that a client can vary at will. */
  private static final Set<String> CHOSEN =
      Set.of("path", "url", "uri", "query", "agent", "useragent", "referer", "referrer", "cookie");

  /** Words of keys whose values an operator has written, such as Envoy's {@code query_match}. */
  private static final Set<String> CONFIGURED = Set.of("match", "template", "pattern");

  /** The ends of words: other characters, and capitals within a word. */
  private static final Pattern WORD_END = Pattern.compile("[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])");

  private ClientWildcards() {}

  /**
   * Warns of a wildcard for which the policy does not say whether its values share one counter.
   *
   * @param at place of the pattern
   */
  public static void check(DescriptorNode wildcard, SourceLocation at, Problems problems) {
    if (isChosenByClients(wildcard.key()) && counts(wildcard)) {
      problems.warning(
          at,
          "the wildcard %s has one counter for each value that it matches, and clients choose these:"
                  .formatted(Wording.quote(wildcard.composite()))
              + " a client that varies it is not limited",
          "write share_threshold: true for one counter, or false if one for each value is meant");
    }
  }

  private static boolean isChosenByClients(String key) {
    Set<String> words = Set.copyOf(Arrays.asList(WORD_END.split(key)));
    return words.stream().noneMatch(word -> CONFIGURED.contains(word.toLowerCase(Locale.ROOT)))
        && words.stream().anyMatch(word -> CHOSEN.contains(word.toLowerCase(Locale.ROOT)));
  }

  /** Returns whether a rule of the descriptor, or of one below it, counts in this service. */
  private static boolean counts(DescriptorNode node) {
    RuleSpec rule = node.rule();
    boolean counts =
        rule != null
            && !rule.unlimited()
            && !(rule.concurrency() != null && rule.concurrency().gate() instanceof AtEnvoys);
    return counts || node.children().stream().anyMatch(ClientWildcards::counts);
  }
}
