package io.throttlekit.descriptors.source;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Collects the problems of one load. Reports a problem of one place once, however many aliases lead
 * there, and stops after {@link #MAX} errors, and as many warnings.
 */
public final class Problems {
  static final int MAX = 1_000; // enough to work on; bounds memory and output for hostile files

  private final Set<Problem> found = new LinkedHashSet<>();
  private final Map<Severity, Integer> counts = new EnumMap<>(Severity.class);

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
    return counts.containsKey(Severity.ERROR);
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

  /**
   * Adds a problem unless it was reported before, or there are too many of its severity: warnings
   * must not hide errors.
   */
  public void add(Problem problem) {
    int count = counts.getOrDefault(problem.severity(), 0);
    if (count > MAX || found.contains(problem)) {
      return;
    }
    counts.put(problem.severity(), count + 1);
    found.add(
        count < MAX
            ? problem
            : new Problem(
                problem.severity(),
                problem.location(),
                problem.message(),
                "more than " + MAX + " problems: some are not shown"));
  }
}
