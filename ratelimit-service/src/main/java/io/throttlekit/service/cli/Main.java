package io.throttlekit.service.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** The entry point of the process. */
public final class Main {

  private static final String LOG_MANAGER = "java.util.logging.manager";

  private Main() {}

  /** Runs a command line and exits with its code. */
  public static void main(String[] arguments) {
    // Before the first logger is created, which loads the log manager.
    if (System.getProperty(LOG_MANAGER) == null) {
      System.setProperty(LOG_MANAGER, LastingLogManager.class.getName());
    }
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int code = CommandLineTool.run(arguments, System.getenv(), out, err);
    System.exit(code);
  }
}
