package io.throttlekit.descriptors.source;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reports errors of the YAML parser, with their place. */
final class SyntaxProblem {
  private SyntaxProblem() {}

  static void report(String file, String text, YamlEngineException e, Problems problems) {
    switch (e) {
      case MarkedYamlEngineException marked -> report(file, marked, problems);
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

  private static void report(String file, MarkedYamlEngineException e, Problems problems) {
    // Without the parser's remark on tabs, for which there is a hint.
    String problem = onOneLine(e.getProblem()).replaceFirst("\\. \\(Do not use .*", "");
    String context = onOneLine(e.getContext());
    SourceLocation begun = place(file, e.getContextMark().or(e::getProblemMark));
    SourceLocation met = place(file, e.getProblemMark().or(e::getContextMark));
    // Of aliases and quotes, the parser reports the end, and users look for the beginning.
    if (context.equals("while scanning an alias")) {
      problems.error(
          begun,
          "not valid YAML: `*` begins an alias here",
          "a text that begins with * needs quotes");
    } else if (context.equals("while scanning a quoted scalar")) {
      problems.error(begun, "not valid YAML: this quote is never closed", "close it");
    } else {
      problems.error(met, "not valid YAML: " + problem, hint(problem, context, begun));
    }
  }

  /** Returns the likely cause of an error, for most of the errors that the parser reports. */
  private static String hint(String problem, String context, SourceLocation begun) {
    if (problem.startsWith("mapping values are not allowed")) {
      return "a text with `: ` in it needs quotes, or this line is indented too far";
    }
    if (problem.contains("(TAB)")) {
      return "indent with spaces";
    }
    if (problem.contains("that cannot start any token")) {
      return "a text that begins with this character needs quotes";
    }
    if (problem.startsWith("expected <block end>")) {
      return "this line is not indented as those of the list or mapping that begins at "
          + begun.line()
          + ":"
          + begun.column();
    }
    if (context.equals("while parsing a flow node")) {
      return "a [ or { before it is not closed";
    }
    if (context.startsWith("while parsing a flow")) {
      return "the [ or { at " + begun.line() + ":" + begun.column() + " is not closed";
    }
    return context;
  }

  /** Returns the place of a mark, or the beginning of the file where there is none. */
  static SourceLocation place(String file, Optional<Mark> mark) {
    return mark.map(at -> new SourceLocation(file, at.getLine() + 1, at.getColumn() + 1))
        .orElse(new SourceLocation(file, 1, 1));
  }

  private static String onOneLine(@Nullable String text) {
    return text == null ? "" : text.strip().replaceAll("\\s+", " ");
  }
}
