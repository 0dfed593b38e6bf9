package io.throttlekit.service.config;

/** Where the value of a setting came from; its text is what people read. */
sealed interface Origin {

  /** Nobody said anything. */
  record Default() implements Origin {
    @Override
    public String toString() {
      return "default";
    }
  }

  /** Nobody said anything, and the process stands in for envoyproxy/ratelimit. */
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

  /** An environment variable, or several that say one thing together. */
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
