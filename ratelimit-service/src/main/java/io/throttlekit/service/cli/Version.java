package io.throttlekit.service.cli;

import picocli.CommandLine.IVersionProvider;

/** Prints the version from the jar's manifest. */
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
