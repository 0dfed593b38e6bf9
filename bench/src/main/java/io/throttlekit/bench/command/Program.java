package io.throttlekit.bench.command;

import java.io.IOException;
import java.io.PrintStream;
import java.util.Set;

/** A command of {@code bin/bench}, after its command line was parsed. */
@FunctionalInterface
public interface Program {

  /** Runs the command; may take minutes. */
  void run() throws IOException, InterruptedException;

  /** Parser of a command line. */
  @FunctionalInterface
  interface Reader {
    /**
     * Parses the command line without running the command.
     *
     * @throws IllegalArgumentException with a one-line message if it is invalid
     */
    Program read(Arguments arguments);
  }

  /**
   * Runs a command, and prints one line with the error when it fails.
   *
   * @return the exit code: 0, 2 for a wrong command line, 1 when something failed or a target was
   *     missed
   */
  static int start(Reader reader, Set<String> options, PrintStream errors, String... args)
      throws InterruptedException {
    return start(reader, options, Set.of(), errors, args);
  }

  /**
   * Does the same, with options that have no value.
   *
   * @param flags their names, without dashes
   */
  static int start(
      Reader reader, Set<String> options, Set<String> flags, PrintStream errors, String... args)
      throws InterruptedException {
    Program program;
    try {
      program = reader.read(Arguments.parse(options, flags, args));
    } catch (IllegalArgumentException wrong) {
      errors.println("bin/bench: " + wrong.getMessage());
      return 2;
    }
    try {
      program.run();
      return 0;
    } catch (IOException | IllegalStateException failed) {
      errors.println("bin/bench: " + failed.getMessage());
      return 1;
    }
  }
}
