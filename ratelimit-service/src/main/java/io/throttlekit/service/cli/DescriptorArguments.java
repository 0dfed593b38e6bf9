package io.throttlekit.service.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** What a request asks about, on the command lines that ask. */
final class DescriptorArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  @Option(
      names = "--domain",
      required = true,
      paramLabel = "D",
      description = "Domain of the request.")
  private String domain = "";

  @Parameters(
      index = "0+",
      arity = "1..*",
      paramLabel = "key=value[,key=value]",
      description = "Descriptors, one per argument. A comma in a value is written '\\,'.")
  private List<String> descriptors = new ArrayList<>();

  String domain() {
    return domain;
  }

  /**
   * What is asked about. Read here and not by a converter: of several, picocli would take the first
   * that is malformed for an argument that nobody expects.
   *
   * @throws ParameterException when one is malformed
   */
  List<DescriptorArgument> descriptors() {
    try {
      return descriptors.stream().map(DescriptorArgument::parse).toList();
    } catch (TypeConversionException e) {
      throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }
}
