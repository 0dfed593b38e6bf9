package io.throttlekit.envoy.filter;

/** Lines of a YAML text, each with the indentation of the part it was added to. */
final class Lines {
  private final StringBuilder text;
  private final String indentation;

  Lines() {
    this(new StringBuilder(), "");
  }

  private Lines(StringBuilder text, String indentation) {
    this.text = text;
    this.indentation = indentation;
  }

  /** Returns the part one level deeper. */
  Lines in() {
    return in(1);
  }

  /** Returns the part so many levels deeper. */
  Lines in(int levels) {
    return new Lines(text, indentation + "  ".repeat(levels));
  }

  void add(String line) {
    text.append(line.isEmpty() ? "" : indentation + line).append('\n');
  }

  /** Adds a text of several lines, each of which ends with a line break. */
  void text(String lines) {
    lines.lines().forEach(this::add);
  }

  /** Adds a comment, in which no character can end the line. */
  void comment(String comment) {
    add("# " + comment.replaceAll("[\\p{Cntrl}\\x{85}\\x{2028}\\x{2029}]", "?"));
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
