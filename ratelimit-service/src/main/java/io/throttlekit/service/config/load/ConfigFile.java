package io.throttlekit.service.config.load;

import io.throttlekit.descriptors.source.Wording;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads the configuration file, reporting every mistake with its place, and prints one. */
final class ConfigFile {

  private final String name;
  private final SettingValues values;

  private ConfigFile(String name, SettingValues values) {
    this.name = name;
    this.values = values;
  }

  /** Puts the file's settings into {@code values}. */
  static void read(Path file, SettingValues values) {
    ConfigFile reader = new ConfigFile(file.toString(), values);
    try {
      reader.readText(Files.readString(file));
    } catch (NoSuchFileException e) {
      reader.error(Optional.empty(), "there is no such file");
    } catch (CharacterCodingException e) {
      reader.error(Optional.empty(), "the file is not UTF-8 text");
    } catch (IOException e) {
      reader.error(Optional.empty(), "the file cannot be read: " + e.getMessage());
    }
  }

  /** Returns every effective setting and its origin as YAML that is a valid file. */
  static String print(SettingValues values) {
    StringBuilder text = new StringBuilder();
    String before = "";
    for (Setting setting : Settings.ALL) {
      String path = setting.path();
      String indent = "";
      for (int dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
        if (!before.startsWith(path.substring(0, dot + 1))) { // a section begins
          String section = path.substring(path.lastIndexOf('.', dot - 1) + 1, dot);
          text.append(indent).append(section).append(":\n");
        }
        indent += "  ";
      }
      text.append(indent)
          .append(path.substring(path.lastIndexOf('.') + 1))
          .append(": ")
          .append(values.print(path))
          .append("  # ")
          .append(values.origin(path))
          .append('\n');
      before = path;
    }
    return text.toString();
  }

  private void readText(String text) {
    try {
      Yaml.compose(name, text).ifPresent(node -> section(node, ""));
    } catch (YamlEngineException e) {
      Optional<Mark> place =
          e instanceof MarkedYamlEngineException marked
              ? marked.getProblemMark()
              : Optional.empty();
      error(place, "not YAML: " + Yaml.problem(e));
    }
  }

  private void section(Node node, String path) {
    if (!Yaml.isNull(node)) {
      String what = path.isEmpty() ? "the file" : path;
      Yaml.forEachField(
          node, what, childrenOf(path), this::error, (key, value) -> field(path, key, value));
    }
  }

  private void field(String section, ScalarNode key, Node value) {
    String path = section.isEmpty() ? key.getValue() : section + "." + key.getValue();
    Setting setting = Settings.find(path);
    if (setting != null) {
      value(setting, value);
    } else if (!childrenOf(path).isEmpty()) {
      section(value, path);
    } else {
      String hint = Wording.hint(key.getValue(), childrenOf(section));
      error(key, "unknown key " + Yaml.alwaysQuoted(path) + hint);
    }
  }

  private void value(Setting setting, Node node) {
    if (Yaml.isNull(node)) {
      return;
    }
    if (setting.attribute("form").equals("descriptors")) {
      int errors = values.errors().size();
      Object value = RequestDescriptors.read(node, this::error);
      if (values.errors().size() == errors) {
        values.put(setting.path(), value, origin(node.getStartMark()));
      }
      return;
    }
    List<Node> nodes =
        setting.form().list() && node instanceof SequenceNode list
            ? list.getValue()
            : List.of(node);
    List<String> texts = new ArrayList<>();
    for (Node part : nodes) {
      if (!(part instanceof ScalarNode scalar)) {
        error(node, setting + " has to be " + setting.form().expected());
        return;
      }
      texts.add(scalar.getValue());
    }
    values.read(setting, texts, origin(node.getStartMark()));
  }

  private static List<String> childrenOf(String section) {
    String prefix = section.isEmpty() ? "" : section + ".";
    return Settings.ALL.stream()
        .map(Setting::path)
        .filter(path -> path.startsWith(prefix))
        .map(path -> path.substring(prefix.length()).split("\\.", 2)[0])
        .distinct()
        .toList();
  }

  private void error(Node node, String message) {
    error(node.getStartMark(), message);
  }

  private void error(Optional<Mark> mark, String message) {
    values.error(origin(mark), message);
  }

  private Origin origin(Optional<Mark> mark) {
    int line = mark.map(Mark::getLine).orElse(0);
    int column = mark.map(Mark::getColumn).orElse(0);
    return Origin.file(name, line + 1, column + 1);
  }
}
