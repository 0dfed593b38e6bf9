package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.PolicyReading.counted;

import io.throttlekit.descriptors.policy.EntrySource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.filter.FilterActions;
import io.throttlekit.envoy.filter.FilterText;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Prints the configuration of Envoy that policies need. */
@Command(
    name = "envoy",
    description = "Prints the configuration of Envoy that policies need.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = "Exit code: 0 printed, 1 the policies are wrong, 2 wrong use.")
final class EnvoyCommand implements Callable<Integer> {

  private static final int MAX_WARNINGS = 20;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--policies",
      required = true,
      paramLabel = "PATH",
      description = "Policy file or folder of them; repeatable.")
  private List<String> policies = new ArrayList<>();

  @Option(names = "--domain", paramLabel = "D", description = "Only this domain.")
  private @Nullable String domain;

  @Option(
      names = "--header",
      paramLabel = "KEY=NAME",
      description = "Request header with the entries of a key; repeatable.")
  private List<String> headers = new ArrayList<>();

  @Option(
      names = "--value",
      paramLabel = "KEY=TEXT",
      description = "Value of the entries of a key for every request; repeatable.")
  private List<String> values = new ArrayList<>();

  @Option(
      names = "--filter",
      description = "A bootstrap that runs, with the filter and its clusters.")
  private boolean filter;

  @Override
  public Integer call() {
    Map<String, EntrySource> sources = sources();
    PolicyReading reading = PolicyReading.of(policies, spec.commandLine());
    PolicyBook book = reading.result().book();
    PrintWriter err = spec.commandLine().getErr();
    if (book == null) {
      reading.result().problems().forEach(err::println);
      err.println("error: " + counted(reading.errors(), "error") + " in the policies");
      return CommandLineTool.FAILED;
    }
    List<String> domains = domain == null ? book.domains() : List.of(domain);
    if (!book.domains().containsAll(domains) || domains.isEmpty()) {
      String known = String.join(", ", book.domains());
      err.println(
          domains.isEmpty()
              ? "error: the policies have no domain"
              : "error: the policies have no domain '" + domain + "', only: " + known);
      return CommandLineTool.FAILED;
    }
    List<FilterActions> actions =
        domains.stream().map(name -> FilterActions.of(book, name, sources)).toList();
    actions.stream()
        .flatMap(one -> one.guesses().stream())
        .limit(MAX_WARNINGS)
        .forEach(entry ->
            err.println(
                ("warning: every request counts as %s: name the header that has it with --header"
                        + " KEY=NAME, or keep it with --value KEY=TEXT")
                    .formatted(entry)));
    FilterText text = new FilterText(actions);
    spec.commandLine().getOut().print(filter ? text.bootstrap() : text.parts());
    return CommandLineTool.OK;
  }

  private Map<String, EntrySource> sources() {
    Map<String, EntrySource> sources = new LinkedHashMap<>();
    headers.forEach(text -> {
      int split = split("--header", text);
      String name = text.substring(split + 1).toLowerCase(Locale.ROOT);
      sources.put(text.substring(0, split), new EntrySource.Header(name));
    });
    values.forEach(text -> {
      int split = split("--value", text);
      sources.put(text.substring(0, split), new EntrySource.Constant(text.substring(split + 1)));
    });
    return sources;
  }

  private int split(String option, String text) {
    int split = text.indexOf('=');
    if (split < 1 || split == text.length() - 1) {
      throw new ParameterException(
          spec.commandLine(), option + " needs KEY=…, but is '" + text + "'");
    }
    return split;
  }
}
