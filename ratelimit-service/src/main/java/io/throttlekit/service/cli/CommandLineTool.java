package io.throttlekit.service.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command {@code throttlekit} and its subcommands.
 *
 * <p>Exit codes: 0 for success, 1 for an error, 2 for wrong use, and 3 of {@code call} for a
 * refusal. Stack traces are never shown.
 */
@Command(
    name = "throttlekit",
    description = "An external rate-limit service for Envoy.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND")
public final class CommandLineTool implements Runnable {

  // Exit codes, as the help texts list them.
  static final int OK = 0;
  static final int FAILED = 1;
  static final int WRONG_USE = 2;
  static final int OVER_LIMIT = 3;

  @Spec private CommandSpec spec = CommandSpec.create();

  private CommandLineTool() {}

  /**
   * Runs one command line.
   *
   * @param environment variables of the process
   * @return the exit code
   */
  public static int run(
      String[] arguments, Map<String, String> environment, PrintWriter out, PrintWriter err) {
    CommandLine line =
        new CommandLine(new CommandLineTool())
            .addSubcommand(ServeCommand.line(environment))
            .addSubcommand(new CheckCommand())
            .addSubcommand(new CallCommand())
            .addSubcommand(new ExplainCommand())
            .addSubcommand(new EnvoyCommand())
            .setOut(out)
            .setErr(err)
            .setExpandAtFiles(false) // an argument may begin with @
            .registerConverter(Long.class, CommandLineTool::whole)
            .setUsageHelpAutoWidth(true) // as wide as the terminal
            .setParameterExceptionHandler(CommandLineTool::wrongUse)
            .setExecutionExceptionHandler((failure, command, parsed) -> {
              command.getErr().println("error: " + describe(failure));
              return FAILED;
            });
    int code = line.execute(arguments);
    out.flush();
    err.flush();
    return code;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  private static int wrongUse(ParameterException mistake, String[] arguments) {
    CommandLine command = mistake.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("error: " + described(mistake));
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
    return WRONG_USE;
  }

  private static String described(ParameterException mistake) {
    if (mistake instanceof MissingParameterException missing) {
      return describedMissing(missing);
    }
    if (!(mistake instanceof UnmatchedArgumentException unmatched)) {
      return String.valueOf(mistake.getMessage());
    }
    return described(unmatched);
  }

  /** Of a mistyped option, the one that is missing would be reported, and not the mistake. */
  private static String describedMissing(MissingParameterException missing) {
    CommandLine command = missing.getCommandLine();
    return command.getParseResult().unmatched().stream()
        .filter(argument -> argument.startsWith("-"))
        .findFirst()
        .map(argument -> described(new UnmatchedArgumentException(command, List.of(argument))))
        .orElse(String.valueOf(missing.getMessage()));
  }

  private static String described(UnmatchedArgumentException unmatched) {
    List<String> near = unmatched.getSuggestions();
    return (unmatched.isUnknownOption() ? "there is no option " : "nothing is expected here: ")
        + ("'" + unmatched.getUnmatched().getFirst() + "'")
        + (near.isEmpty() ? "" : " (did you mean " + near.getFirst() + "?)");
  }

  private static Long whole(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException("'" + text + "' is not a whole number");
    }
  }

  private static String describe(Exception failure) {
    String message = failure.getMessage();
    return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
  }
}
