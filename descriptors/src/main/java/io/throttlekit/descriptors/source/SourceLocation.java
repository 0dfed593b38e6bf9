package io.throttlekit.descriptors.source;

/**
 * Place in a policy file.
 *
 * @param file the name that messages show
 * @param line from 1; 0 when only the file is known
 * @param column from 1; 0 when only the file is known
 */
public record SourceLocation(String file, int line, int column) {

  /** Returns {@code file:line:column}, which editors and terminals make a link. */
  @Override
  public String toString() {
    return line == 0 ? file : file + ':' + line + ':' + column;
  }
}
