package io.throttlekit.descriptors;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a request is limited by a rule, or by none.
 *
 * @param rule the rule that decides, or {@code null}
 * @param reason one sentence: which rule, or why none
 * @param steps what each entry found, as far as the entries led
 * @param nearMisses what would have matched had the request or the policy been a little different
 */
public record Explanation(
    @Nullable Rule rule, String reason, List<String> steps, List<String> nearMisses) {

  /** Copies the lists. */
  public Explanation {
    steps = List.copyOf(steps);
    nearMisses = List.copyOf(nearMisses);
  }
}
