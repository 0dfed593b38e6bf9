package io.throttlekit.testkit.session;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Standard output and standard error of test classes, in one file for each class.
 *
 * <p>Prints each failure with its stack trace, and after a class with failures the last lines of
 * the class's file. Classes that run at the same time write to the file of the class that began
 * last.
 */
final class ClassOutput {
  private static final int SHOWN_LINES = 200;

  private final Path folder;
  private final SwitchedOutput streams;
  private @Nullable Path file;
  private boolean failed;

  private ClassOutput(Path folder, SwitchedOutput streams) {
    this.folder = folder;
    this.streams = streams;
  }

  /** Starts to write what the classes of a run print into a folder, which is created. */
  static ClassOutput into(Path folder) {
    try {
      return new ClassOutput(Files.createDirectories(folder), SwitchedOutput.installed());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the standard output of the JVM. */
  PrintStream console() {
    return streams.console();
  }

  void started(TestIdentifier test) {
    Optional<String> name = TestNames.topLevelClass(test);
    if (name.isPresent()) {
      file = folder.resolve(name.get() + ".txt");
      failed = false;
      streams.writeTo(file);
    }
  }

  void finished(TestIdentifier test, TestExecutionResult result) {
    if (result.getStatus() == Status.FAILED) {
      failed = true;
      console().println("[ERROR] " + TestNames.of(test) + stackTrace(result));
    }
    if (failed && TestNames.topLevelClass(test).isPresent()) {
      printFile();
    }
  }

  private static String stackTrace(TestExecutionResult result) {
    StringWriter text = new StringWriter();
    result
        .getThrowable()
        .ifPresent(failure -> failure.printStackTrace(new PrintWriter(text.append('\n'), true)));
    return text.toString();
  }

  private void printFile() {
    if (file == null) {
      return;
    }
    try {
      List<String> lines =
          new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
      if (!lines.isEmpty()) {
        int first = Math.max(0, lines.size() - SHOWN_LINES);
        // In one call: other JVMs print to the same console.
        console()
            .println(
                "[ERROR] Output of the class, from line %d of %s:\n%s"
                    .formatted(
                        first + 1, file, String.join("\n", lines.subList(first, lines.size()))));
      }
    } catch (IOException e) {
      console().println("[ERROR] No output of the class: " + e);
    }
  }
}
