package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.PolicyReading.counted;

import io.throttlekit.descriptors.policy.Explainer;
import io.throttlekit.descriptors.policy.Explanation;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Wording;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints the rule that a descriptor matches, and why. */
@Command(
    name = "explain",
    description = "Shows the rule that a descriptor matches, how it is found, and near misses.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = "Exit code: 0 explained, 1 the policies are wrong, 2 wrong use.")
final class ExplainCommand implements Callable<Integer> {

  /** Domains that a message lists. */
  private static final int MAX_DOMAINS = 10;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--policies",
      required = true,
      paramLabel = "PATH",
      description = "Policy file or folder of them; repeatable.")
  private List<String> policies = new ArrayList<>();

  @Mixin private DescriptorArguments arguments = new DescriptorArguments();

  @Override
  public Integer call() {
    List<DescriptorArgument> descriptors = arguments.descriptors();
    PolicyReading reading = PolicyReading.of(policies, spec.commandLine());
    PolicyBook book = reading.result().book();
    if (book == null) {
      PrintWriter err = spec.commandLine().getErr();
      reading.result().problems().forEach(err::println);
      err.println("error: " + counted(reading.errors(), "error") + " in the policies");
      return CommandLineTool.FAILED;
    }
    if (book.domain(arguments.domain()) == null) {
      warnOfUnknownDomain(book);
    }
    for (DescriptorArgument descriptor : descriptors) {
      String[] entries = descriptor.entries().toArray(String[]::new);
      print(descriptor, new Explainer().explain(book, arguments.domain(), entries));
    }
    return CommandLineTool.OK;
  }

  private void warnOfUnknownDomain(PolicyBook book) {
    List<String> known = book.domains().stream().sorted().limit(MAX_DOMAINS).toList();
    spec.commandLine()
        .getErr()
        .println(
            "warning: no policy has the domain %s, so that nothing limits its requests (domains: %s)"
                .formatted(
                    Wording.quote(arguments.domain()),
                    known.isEmpty() ? "none" : String.join(", ", known)));
  }

  private void print(DescriptorArgument descriptor, Explanation explanation) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(descriptor + ":");
    explanation.lines().forEach(line -> out.println("  " + line));
  }
}
