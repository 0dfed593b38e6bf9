package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.PolicyReading.counted;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Problem;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints all errors and warnings of policy files. */
@Command(
    name = "check",
    description = "Shows every error and warning of policy files.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = {
      "Exit code: 0 clean or warnings only, 1 errors or no rule at all, 2 wrong use.",
      "With --strict, warnings exit with 1 too."
    })
final class CheckCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--overrides",
      paramLabel = "FILE",
      description = "File of overrides for policies over xDS, in place of policy files.")
  private @Nullable String overrides;

  @Parameters(arity = "0..*", paramLabel = "PATH", description = "Policy files or folders of them.")
  private List<String> paths = new ArrayList<>();

  @Option(names = "--json", description = "One JSON object instead of lines.")
  private boolean json;

  @Option(names = "--strict", description = "Exit with 1 if there is a warning.")
  private boolean strict;

  @Override
  public Integer call() {
    String file = overrides;
    if (paths.isEmpty() == (file == null)) {
      throw new ParameterException(
          spec.commandLine(), "name policy files by PATH, or --overrides FILE");
    }
    PolicyReading reading =
        file == null
            ? PolicyReading.of(paths, spec.commandLine()).requiringRules()
            : PolicyReading.ofOverrides(file, spec.commandLine());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(json(reading));
    } else {
      reading.result().problems().forEach(out::println);
      out.println(summary(reading));
    }
    return isOk(reading) ? CommandLineTool.OK : CommandLineTool.FAILED;
  }

  private boolean isOk(PolicyReading reading) {
    return reading.errors() == 0 && !(strict && reading.warnings() > 0);
  }

  private String summary(PolicyReading reading) {
    String counts =
        "%s, %s in %s"
            .formatted(
                counted(reading.errors(), "error"),
                counted(reading.warnings(), "warning"),
                counted(reading.files(), "file"));
    PolicyBook book = reading.result().book();
    return book == null
        ? counts
        : "%s%s; %s in %s"
            .formatted(
                isOk(reading) ? "ok: " : "not ok with --strict: ",
                counts,
                counted(book.rules().size(), "rule"),
                counted(book.domains().size(), "domain"));
  }

  private JsonObject json(PolicyReading reading) {
    JsonObject json = new JsonObject();
    json.addProperty("ok", isOk(reading));
    json.addProperty("files", reading.files());
    json.addProperty("errors", reading.errors());
    json.addProperty("warnings", reading.warnings());
    JsonArray problems = new JsonArray();
    for (Problem problem : reading.result().problems()) {
      JsonObject line = new JsonObject();
      line.addProperty("severity", problem.severity().name().toLowerCase(Locale.ROOT));
      line.addProperty("file", problem.location().file());
      line.addProperty("line", problem.location().line());
      line.addProperty("column", problem.location().column());
      line.addProperty("message", problem.message());
      line.addProperty("hint", problem.hint());
      problems.add(line);
    }
    json.add("problems", problems);
    return json;
  }
}
