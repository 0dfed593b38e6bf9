package io.throttlekit.service.config;

/** Origin of a setting's value; its text is for people. */
sealed interface Origin {

  /** The setting is not configured. */
  record Default() implements Origin {
    @Override
    public String toString() {
      return "default";
    }
  }

  /** The setting is not configured, and the process replaces envoyproxy/ratelimit. */
  record PeerDefault() implements Origin {
    @Override
    public String toString() {
      return "default of envoyproxy/ratelimit";
    }
  }

  /** A place in the configuration file; lines and columns count from 1. */
  record FileAt(String file, int line, int column) implements Origin {
    @Override
    public String toString() {
      return file + ":" + line + ":" + column;
    }
  }

  /** An environment variable, or several that form one value. */
  record Variable(String name) implements Origin {
    @Override
    public String toString() {
      return "env " + name;
    }
  }

  /** A command-line option. */
  record Option(String name) implements Origin {
    @Override
    public String toString() {
      return name;
    }
  }
}
