package io.throttlekit.service.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;

/** Result of a command line. */
record CommandResult(int code, String out, String err) {

  static CommandResult run(String... arguments) {
    return run(Map.of(), arguments);
  }

  static CommandResult run(Map<String, String> environment, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        CommandLineTool.run(arguments, environment, new PrintWriter(out), new PrintWriter(err));
    return new CommandResult(code, out.toString(), err.toString());
  }
}
