package io.throttlekit.service.cli;

import picocli.CommandLine.IVersionProvider;

/** The version that the jar says it is. */
final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() {
    String version = Version.class.getPackage().getImplementationVersion();
    return new String[] {
      "throttlekit "
          + (version == null ? "(not packaged)" : version)
          + ", Java "
          + Runtime.version().feature()
    };
  }
}
