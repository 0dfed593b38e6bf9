package io.throttlekit.service.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What a request asks about, on the command lines that ask. */
final class DescriptorArguments {

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
      converter = DescriptorArgument.Converter.class,
      description = "Descriptors, one per argument.")
  private List<DescriptorArgument> descriptors = new ArrayList<>();

  String domain() {
    return domain;
  }

  List<DescriptorArgument> descriptors() {
    return descriptors;
  }
}
