package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.PolicyReading.counted;

import com.google.gson.stream.JsonWriter;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Problem;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints all errors and warnings of policy files. */
@Command(
    name = "check",
    description = "Shows every error and warning of policy files.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = "Exit code: 0 clean or warnings only, 1 errors, 2 wrong use.")
final class CheckCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "1..*", paramLabel = "PATH", description = "Policy files or folders of them.")
  private List<String> paths = new ArrayList<>();

  @Option(names = "--json", description = "One JSON object instead of lines.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    PolicyReading reading = PolicyReading.of(paths, spec.commandLine());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(json(reading));
    } else {
      reading.result().problems().forEach(out::println);
      out.println(summary(reading));
    }
    return reading.errors() == 0 ? CommandLineTool.OK : CommandLineTool.FAILED;
  }

  private static String summary(PolicyReading reading) {
    String files = " in " + counted(reading.files(), "file");
    PolicyBook book = reading.result().book();
    String rules =
        book == null
            ? ""
            : "; "
                + counted(book.rules().size(), "rule")
                + " in "
                + counted(book.domains().size(), "domain");
    return (book == null ? "" : "ok: ")
        + counted(reading.errors(), "error")
        + ", "
        + counted(reading.warnings(), "warning")
        + files
        + rules;
  }

  private static String json(PolicyReading reading) throws IOException {
    StringWriter text = new StringWriter();
    JsonWriter writer = new JsonWriter(text);
    writer.beginObject();
    writer.name("ok").value(reading.errors() == 0);
    writer.name("files").value(reading.files());
    writer.name("errors").value(reading.errors());
    writer.name("warnings").value(reading.warnings());
    writer.name("problems").beginArray();
    for (Problem problem : reading.result().problems()) {
      writer.beginObject();
      writer.name("severity").value(problem.severity().name().toLowerCase(Locale.ROOT));
      writer.name("file").value(problem.location().file());
      writer.name("line").value(problem.location().line());
      writer.name("column").value(problem.location().column());
      writer.name("message").value(problem.message());
      writer.name("hint").value(problem.hint());
      writer.endObject();
    }
    writer.endArray().endObject();
    return text.toString();
  }
}
