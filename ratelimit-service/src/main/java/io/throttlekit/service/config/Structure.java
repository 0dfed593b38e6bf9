package io.throttlekit.service.config;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;

/** Syntax in YAML of a value that has parts. */
@FunctionalInterface
interface Structure<T> {

  /** Reads the value and reports all mistakes; the result is meaningless when there are any. */
  T read(Node node, Mistakes mistakes);

  /** Receiver of mistakes and their places. */
  @FunctionalInterface
  interface Mistakes {
    void at(Node node, String what);
  }

  /** Reads a text; returns the value, or descriptions of the mistakes. */
  default Read<T> read(String text) {
    List<String> mistakes = new ArrayList<>();
    try {
      LoadSettings settings =
          LoadSettings.builder().setUseMarks(true).setAllowNonScalarKeys(true).build();
      Node root = new Compose(settings).composeString(text).orElse(null);
      if (root != null) {
        T value = read(root, (node, what) -> mistakes.add(place(node) + what));
        return new Read<>(mistakes.isEmpty() ? value : null, mistakes);
      }
      mistakes.add("it is empty");
    } catch (YamlEngineException e) {
      mistakes.add("not YAML");
    } catch (StackOverflowError e) { // the parser recurses once per level
      mistakes.add("nested too deeply");
    }
    return new Read<>(null, mistakes);
  }

  /**
   * Result of reading a text.
   *
   * @param value null exactly when there are mistakes
   */
  record Read<T>(@Nullable T value, List<String> mistakes) {}

  private static String place(Node node) {
    Mark mark = node.getStartMark().orElse(null);
    return mark == null
        ? ""
        : "line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1) + ": ";
  }
}
