package io.throttlekit.service.xds;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.RuleOverrides;
import io.throttlekit.descriptors.source.PolicyFiles;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.descriptors.source.SourceLocation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The file of overrides, which takes effect when it is valid, and again when it has changed. For
 * one thread at a time.
 */
final class OverridesFile {
  private final Path file;
  private final LoadOptions options;
  private PolicyFiles.@Nullable Sources seen; // at the last poll
  private PolicyFiles.@Nullable Sources taken; // when it was last read as overrides
  private RuleOverrides effective = RuleOverrides.NONE;
  private List<Problem> problems = List.of();

  OverridesFile(Path file, LoadOptions options) {
    this.file = file;
    this.options = options;
  }

  /**
   * Reads the file. At first it takes effect at once; later a change does when two polls in a row
   * saw it, because a file that is only half written may be valid.
   *
   * @return whether the overrides, or the problems of the file, may be others than before
   */
  boolean poll() {
    PolicyFiles.Sources content = content();
    boolean still = seen == null || content.equals(seen);
    seen = content;
    if (!still || content.equals(taken)) {
      return false;
    }
    taken = content;
    if (content.sources().isEmpty()) {
      problems = content.problems();
      return true;
    }
    RuleOverrides.Reading reading = RuleOverrides.read(content.sources().getFirst(), options);
    problems = reading.problems();
    if (reading.overrides() != null) {
      effective = reading.overrides();
    }
    return true;
  }

  private PolicyFiles.Sources content() {
    if (Files.isDirectory(file)) {
      SourceLocation at = new SourceLocation(file.toString(), 0, 0);
      Problem folder = new Problem(Severity.ERROR, at, "is a folder", "name the file of overrides");
      return new PolicyFiles.Sources(List.<PolicySource>of(), List.of(folder));
    }
    return PolicyFiles.read(List.of(file));
  }

  /** Returns the overrides in effect: those of the last valid content. */
  RuleOverrides effective() {
    return effective;
  }

  /** Returns the problems of the newest content. */
  List<Problem> problems() {
    return problems;
  }
}
