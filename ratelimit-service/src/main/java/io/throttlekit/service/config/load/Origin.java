package io.throttlekit.service.config.load;

/**
 * Origin of a setting's value.
 *
 * @param text for people
 */
record Origin(Source source, String text) {

  /** Kind of an origin. */
  enum Source {
    DEFAULT,
    FILE,
    ENVIRONMENT,
    COMMAND_LINE
  }

  /** The setting is not configured. */
  static final Origin DEFAULT = new Origin(Source.DEFAULT, "default");

  /** The setting is not configured, and the process replaces envoyproxy/ratelimit. */
  static final Origin PEER_DEFAULT = new Origin(Source.DEFAULT, "default of envoyproxy/ratelimit");

  /** Returns a place in the configuration file; lines and columns count from 1. */
  static Origin file(String file, int line, int column) {
    return new Origin(Source.FILE, file + ":" + line + ":" + column);
  }

  /** Returns an environment variable. */
  static Origin variable(String name) {
    return new Origin(Source.ENVIRONMENT, "env " + name);
  }

  /** Returns a command-line option. */
  static Origin option(String name) {
    return new Origin(Source.COMMAND_LINE, name);
  }

  @Override
  public String toString() {
    return text;
  }
}
