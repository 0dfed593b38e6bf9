package io.throttlekit.service.cli;

import io.throttlekit.descriptors.LoadOptions;
import io.throttlekit.descriptors.LoadResult;
import io.throttlekit.descriptors.PolicyFiles;
import io.throttlekit.descriptors.PolicyLoader;
import io.throttlekit.descriptors.PolicySource;
import io.throttlekit.descriptors.Severity;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Policies that a command line names.
 *
 * @param files how many were read
 * @param result what they came to
 */
record PolicyReading(int files, LoadResult result) {

  /**
   * Reads and loads.
   *
   * @throws ParameterException when a path leads nowhere
   */
  static PolicyReading of(List<String> paths, CommandLine command) {
    List<Path> found = new ArrayList<>();
    for (String path : paths) {
      try {
        found.add(Path.of(path));
      } catch (InvalidPathException e) {
        throw new ParameterException(command, "'" + path + "' is not a path", e);
      }
    }
    try {
      List<PolicySource> sources = PolicyFiles.read(found);
      if (sources.isEmpty()) {
        throw new ParameterException(
            command, "no *.yaml or *.yml file below " + String.join(", ", paths));
      }
      return new PolicyReading(
          sources.size(), new PolicyLoader(new LoadOptions(true)).load(sources));
    } catch (IOException e) {
      throw new ParameterException(command, String.valueOf(e.getMessage()), e);
    }
  }

  long errors() {
    return count(Severity.ERROR);
  }

  long warnings() {
    return count(Severity.WARNING);
  }

  /** "1 error", "2 errors". */
  static String counted(long count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  private long count(Severity severity) {
    return result.problems().stream().filter(p -> p.severity() == severity).count();
  }
}
