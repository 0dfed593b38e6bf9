package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a word that the limits of one descriptor have in common because they are charged as one. It
 * stands beside the limits, or in each of them.
 */
final class CommonWord {
  private final String key;
  private final List<String> words;
  private final Problems problems;
  private final Values values;

  /** Creates a reader of the field {@code key}, which holds one of {@code words}. */
  CommonWord(String key, List<String> words, Problems problems) {
    this.key = key;
    this.words = words;
    this.problems = problems;
    this.values = new Values(problems);
  }

  /**
   * Returns the word of the limits, or else that of {@code own}; {@code null} when it is not known.
   *
   * @param own fields that hold for all limits: {@code rate_limit}, or the descriptor of {@code
   *     limits}
   * @param written the mapping of each limit, which is {@code own} for {@code rate_limit}
   * @param otherwise the default where none is written; {@code null} when it is not known
   */
  @Nullable String read(Fields own, List<Fields> written, @Nullable String otherwise) {
    String beside = word(own, otherwise);
    String first = beside;
    boolean differ = false;
    for (int i = 0; i < written.size(); i++) {
      Fields limit = written.get(i);
      String word = word(limit, beside);
      if (i > 0 && word != null && first != null && !word.equals(first)) {
        differ = true;
        Field said = limit.get(key);
        problems.error(
            said == null ? limit.location() : said.at(),
            "the limits of one descriptor are charged as one, so "
                + Wording.quote(key)
                + " must be the same",
            "write it once, beside limits");
      }
      first = i == 0 ? word : first;
    }
    return differ ? null : first;
  }

  /** Returns whether any of the mappings has the field. */
  boolean isNamed(Fields own, List<Fields> written) {
    return own.get(key) != null || written.stream().anyMatch(limit -> limit.get(key) != null);
  }

  private @Nullable String word(Fields fields, @Nullable String otherwise) {
    Field said = fields.get(key);
    if (said != null) {
      return values.choice(said, words);
    }
    // A part that could not be read may hold the word.
    return fields.incomplete() ? null : otherwise;
  }
}
