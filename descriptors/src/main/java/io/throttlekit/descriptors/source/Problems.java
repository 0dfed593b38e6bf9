package io.throttlekit.descriptors.source;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Collects the problems of one load. Reports a problem of one place once, however many aliases lead
 * there, and stops after {@link #MAX} problems.
 */
public final class Problems {
  static final int MAX = 1_000; // enough to work on; bounds memory and output for hostile files

  private final Set<Problem> found = new LinkedHashSet<>();
  private boolean errors;
  private boolean full;

  /** Adds an error, as {@link #add} does. */
  public void error(SourceLocation location, String message, String hint) {
    add(new Problem(Severity.ERROR, location, message, hint));
  }

  /** Adds a warning, as {@link #add} does. */
  public void warning(SourceLocation location, String message, String hint) {
    add(new Problem(Severity.WARNING, location, message, hint));
  }

  /** Returns whether any problem is an error, also one that is not shown. */
  public boolean hasErrors() {
    return errors;
  }

  /** Returns the problems by file, in the order of {@code files}, then by line and column. */
  public List<Problem> sorted(Map<String, Integer> files) {
    List<Problem> sorted = new ArrayList<>(found);
    sorted.sort(
        Comparator.comparing(
            Problem::location,
            Comparator.<SourceLocation>comparingInt(
                    at -> files.getOrDefault(at.file(), Integer.MAX_VALUE))
                .thenComparingInt(SourceLocation::line)
                .thenComparingInt(SourceLocation::column)));
    return sorted;
  }

  /** Adds a problem unless it was reported before, or there are too many. */
  public void add(Problem problem) {
    if (found.size() < MAX) {
      found.add(problem);
    } else if (!full && !found.contains(problem)) {
      full = true;
      found.add(
          new Problem(
              problem.severity(),
              problem.location(),
              problem.message(),
              "more than " + MAX + " problems: some are not shown"));
    }
    // An error must be shown even when warnings have filled the list.
    boolean error = problem.severity() == Severity.ERROR;
    if (full && error && !errors) {
      found.add(problem);
    }
    errors |= error;
  }
}
