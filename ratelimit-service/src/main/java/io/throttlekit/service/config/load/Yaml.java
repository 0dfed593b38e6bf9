package io.throttlekit.service.config.load;

import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.identity.Identity;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** Parses YAML, and writes values of settings as YAML. */
final class Yaml {
  private Yaml() {}

  /** Receiver of mistakes and their places. */
  @FunctionalInterface
  interface Mistakes {
    void at(Node node, String what);
  }

  /**
   * Parses a text; empty when the text is.
   *
   * @param label name of the text in messages of the parser
   * @throws YamlEngineException if it is not YAML
   */
  static Optional<Node> compose(String label, String text) {
    LoadSettings settings =
        LoadSettings.builder()
            .setLabel(label)
            .setUseMarks(true)
            .setAllowNonScalarKeys(true)
            .build();
    try {
      return new Compose(settings).composeString(text);
    } catch (StackOverflowError e) { // the parser recurses once per level
      throw new YamlEngineException("nested too deeply");
    }
  }

  /** Returns what is not YAML, in one line without its place. */
  static @Nullable String problem(YamlEngineException e) {
    return e instanceof MarkedYamlEngineException marked ? marked.getProblem() : e.getMessage();
  }

  static boolean isNull(Node node) {
    return node instanceof ScalarNode && node.getTag().equals(Tag.NULL);
  }

  /**
   * Passes on the fields of a node that must be a map, and reports keys that are no text or given
   * twice.
   *
   * @param what the map in words
   * @param names the names of fields that it may have
   */
  static void forEachField(
      Node node,
      String what,
      List<String> names,
      Mistakes mistakes,
      BiConsumer<ScalarNode, Node> action) {
    if (!(node instanceof MappingNode mapping)) {
      mistakes.at(node, what + " has to be a map of " + String.join(", ", names));
      return;
    }
    Set<String> seen = new HashSet<>();
    for (NodeTuple tuple : mapping.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        mistakes.at(tuple.getKeyNode(), "a key has to be a name");
      } else if (!seen.add(key.getValue())) {
        mistakes.at(key, key.getValue() + " is given twice");
      } else {
        action.accept(key, tuple.getValueNode());
      }
    }
  }

  /** Returns a value of a setting as YAML. */
  static String print(Object value) {
    return switch (value) {
      case Duration duration -> GoDuration.format(duration);
      case List<?> list ->
          list.stream().map(Yaml::print).collect(Collectors.joining(", ", "[", "]"));
      case RequestDescriptor descriptor -> RequestDescriptors.print(descriptor);
      case Identity identity -> alwaysQuoted(identity.pattern());
      case Boolean _, Number _ -> value.toString();
      default -> quoted(value.toString());
    };
  }

  /** Quotes the text where YAML would not read the bare text as the same text. */
  static String quoted(String text) {
    return text.matches("[A-Za-z/][A-Za-z0-9_./-]*")
            && Form.parseFlag(text) == null
            && !text.equalsIgnoreCase("null")
        ? text
        : alwaysQuoted(text);
  }

  /**
   * Returns the text in double quotes, with control characters escaped: they could move a cursor.
   */
  static String alwaysQuoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (Character.isISOControl(c)) {
        quoted.append("\\u%04x".formatted((int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
