package io.throttlekit.testkit.required;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of a build for the tests that need one program.
 *
 * @param program its name
 * @param ran tests that ran
 * @param incomplete test classes that were skipped, in part or whole, or not run
 * @param whyMissing why the program is unavailable; null if it is available, or was not checked
 */
record Verdict(String program, int ran, List<String> incomplete, @Nullable String whyMissing) {

  static Verdict of(ExternalProgram program, List<TestReport> reports) {
    int ran = reports.stream().mapToInt(TestReport::ran).sum();
    List<String> incomplete =
        reports.stream().filter(report -> !report.complete()).map(TestReport::test).toList();
    String whyMissing = incomplete.isEmpty() ? null : program.whyMissing();
    return new Verdict(program.name(), ran, incomplete, whyMissing);
  }

  boolean failed() {
    return !incomplete.isEmpty() && whyMissing == null;
  }

  @Override
  public String toString() {
    String line = "required tests: " + program + ": " + ran + " ran";
    if (incomplete.isEmpty()) {
      return line;
    }
    return whyMissing == null
        ? line + ", but it can be had, and these were skipped or not run: " + incomplete
        : line + "; it cannot be had (" + whyMissing + "), so not these: " + incomplete;
  }
}
