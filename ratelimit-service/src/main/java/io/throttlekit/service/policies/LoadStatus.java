package io.throttlekit.service.policies;

import io.throttlekit.descriptors.source.Problem;
import java.util.List;

/**
 * Status of policy loads.
 *
 * @param generation number of successful loads; 0 while there are no policies
 * @param loadedAtMillis time when the effective policies were loaded, since the Unix epoch; 0 for
 *     never
 * @param problems of the newest load, warnings included
 * @param lastError why the newest load failed; empty when it succeeded
 */
public record LoadStatus(
    long generation, long loadedAtMillis, List<Problem> problems, String lastError) {

  /** Copies the list. */
  public LoadStatus {
    problems = List.copyOf(problems);
  }

  /** Returns whether the newest load succeeded. */
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
