package io.throttlekit.service.cli;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.load.RuleOverrides;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicyFiles;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.descriptors.source.SourceLocation;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Policies named on a command line.
 *
 * @param source the paths, as messages name them
 * @param files number of files that were read, or could not be
 * @param result result of loading them
 */
record PolicyReading(String source, int files, LoadResult result) {

  /**
   * Reads and loads policies. A file that cannot be read is an error like those inside of files.
   *
   * @throws ParameterException when no path exists
   */
  static PolicyReading of(List<String> paths, CommandLine command) {
    List<Path> found = new ArrayList<>();
    for (String path : paths) {
      if (path.isEmpty()) { // from an unset variable of a script; Java takes it for this folder
        throw new ParameterException(command, "'' is not a path");
      }
      try {
        found.add(Path.of(path));
      } catch (InvalidPathException e) {
        throw new ParameterException(command, "'" + path + "' is not a path", e);
      }
    }
    String source = String.join(", ", paths);
    if (found.stream().noneMatch(Files::exists)) {
      throw new ParameterException(command, "no such file or folder: " + source);
    }
    PolicyFiles.Sources read = PolicyFiles.read(found);
    LoadResult loaded = new PolicyLoader(new LoadOptions(true)).load(read.sources());
    if (read.problems().isEmpty()) {
      return new PolicyReading(source, read.sources().size(), loaded);
    }
    List<Problem> problems = new ArrayList<>(read.problems());
    problems.addAll(loaded.problems());
    long unread = read.problems().stream().filter(p -> p.location().line() > 0).count();
    int files = read.sources().size() + (int) unread;
    return new PolicyReading(source, files, new LoadResult(null, problems));
  }

  /** Returns this reading, with an error if there is no rule: nothing would be limited. */
  PolicyReading requiringRules() {
    PolicyBook book = result.book();
    if (book == null || !book.rules().isEmpty()) {
      return this;
    }
    List<Problem> problems = new ArrayList<>(result.problems());
    problems.add(
        new Problem(
            Severity.ERROR,
            new SourceLocation(source, 0, 0),
            "there is no rule: nothing would be limited",
            "add rate_limit, limits or concurrency to a descriptor"));
    return new PolicyReading(source, files, new LoadResult(null, problems));
  }

  /**
   * Reads a file of overrides, which has no rules of its own.
   *
   * @throws ParameterException when it does not exist
   */
  static PolicyReading ofOverrides(String path, CommandLine command) {
    if (path.isEmpty() || !Files.isRegularFile(Path.of(path))) {
      throw new ParameterException(command, "no such file: '" + path + "'");
    }
    PolicyFiles.Sources read = PolicyFiles.read(List.of(Path.of(path)));
    List<Problem> problems = new ArrayList<>(read.problems());
    for (PolicySource source : read.sources()) {
      problems.addAll(RuleOverrides.read(source, new LoadOptions(true)).problems());
    }
    return new PolicyReading(path, 1, new LoadResult(null, problems));
  }

  long errors() {
    return count(Severity.ERROR);
  }

  long warnings() {
    return count(Severity.WARNING);
  }

  /** Returns "1 error", "2 errors". */
  static String counted(long count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  private long count(Severity severity) {
    return result.problems().stream().filter(p -> p.severity() == severity).count();
  }
}
