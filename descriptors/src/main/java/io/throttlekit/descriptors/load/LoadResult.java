package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of a load.
 *
 * @param book the policies; {@code null} exactly when a problem is an error
 * @param problems every error and warning, in the order of the sources and of their lines
 */
public record LoadResult(@Nullable PolicyBook book, List<Problem> problems) {

  /** Copies the list. */
  public LoadResult {
    problems = List.copyOf(problems);
  }
}
