package io.throttlekit.descriptors;

import java.util.Locale;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** What the YAML parser stumbled over, with its place. */
final class SyntaxProblem {
  private SyntaxProblem() {}

  static void report(String file, String text, YamlEngineException e, Problems problems) {
    switch (e) {
      case MarkedYamlEngineException marked ->
          problems.error(
              marked
                  .getProblemMark()
                  .or(marked::getContextMark)
                  .map(mark -> new SourceLocation(file, mark.getLine() + 1, mark.getColumn() + 1))
                  .orElse(new SourceLocation(file, 1, 1)),
              "not valid YAML: " + String.valueOf(marked.getProblem()).strip(),
              marked.getContext() == null ? "" : marked.getContext().strip());
      case ReaderException reader ->
          problems.error(
              SourceText.locate(file, text, reader.getPosition()),
              String.format(
                  Locale.ROOT, "the character U+%04X is not allowed", reader.getCodePoint()),
              "remove it, or write it as an escape in double quotes");
      default ->
          problems.error(
              new SourceLocation(file, 1, 1),
              "not valid YAML: " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""),
              "");
    }
  }
}
