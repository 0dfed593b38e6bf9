package io.throttlekit.service.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Domain and descriptors of a request, for the command lines that take them. */
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
   * Returns the descriptors. They are parsed here instead of in a converter: of several, picocli
   * would report the first malformed one as an unexpected argument.
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
