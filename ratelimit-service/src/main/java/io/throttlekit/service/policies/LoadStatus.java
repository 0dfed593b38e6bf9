package io.throttlekit.service.policies;

import io.throttlekit.descriptors.Problem;
import java.util.List;

/**
 * What became of the looks at the policy files so far.
 *
 * @param generation how many loads were good; 0 while there are no policies
 * @param loadedAtMillis when the policies in force were loaded, since the Unix epoch; 0 for never
 * @param problems of the newest load, warnings included
 * @param lastError why the newest load changed nothing; empty when it was good
 */
public record LoadStatus(
    long generation, long loadedAtMillis, List<Problem> problems, String lastError) {

  /** Keeps a copy of the list. */
  public LoadStatus {
    problems = List.copyOf(problems);
  }

  /** Whether the newest load was good. */
  public boolean good() {
    return generation > 0 && lastError.isEmpty();
  }

  static LoadStatus none() {
    return new LoadStatus(0, 0, List.of(), "");
  }

  LoadStatus loaded(long nowMillis, List<Problem> problems) {
    return new LoadStatus(generation + 1, nowMillis, problems, "");
  }

  LoadStatus failed(List<Problem> problems, String error) {
    return new LoadStatus(generation, loadedAtMillis, problems, error);
  }
}
