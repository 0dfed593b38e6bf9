package io.throttlekit.service.config.load;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

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
      reader.error(null, "there is no such file");
    } catch (CharacterCodingException e) {
      reader.error(null, "the file is not UTF-8 text");
    } catch (IOException e) {
      reader.error(null, "the file cannot be read: " + e.getMessage());
    }
  }

  /** Returns every effective setting and its origin as YAML that is a valid file. */
  static String print(SettingValues values) {
    StringBuilder text = new StringBuilder();
    List<String> open = List.of();
    for (Setting<?> setting : Settings.ALL) {
      List<String> names = List.of(setting.path().split("\\.", -1));
      List<String> sections = names.subList(0, names.size() - 1);
      for (int depth = shared(open, sections); depth < sections.size(); depth++) {
        text.append("  ".repeat(depth)).append(sections.get(depth)).append(":\n");
      }
      open = sections;
      text.append("  ".repeat(sections.size()))
          .append(names.getLast())
          .append(": ")
          .append(values.print(setting))
          .append("  # ")
          .append(values.origin(setting))
          .append('\n');
    }
    return text.toString();
  }

  private static int shared(List<String> open, List<String> sections) {
    int depth = 0;
    while (depth < open.size()
        && depth < sections.size()
        && open.get(depth).equals(sections.get(depth))) {
      depth++;
    }
    return depth;
  }

  private void readText(String text) {
    LoadSettings settings =
        LoadSettings.builder().setLabel(name).setUseMarks(true).setAllowNonScalarKeys(true).build();
    try {
      new Compose(settings).composeString(text).ifPresent(node -> section(node, ""));
    } catch (MarkedYamlEngineException e) {
      error(e.getProblemMark().orElse(null), "not YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      error(null, "not YAML: " + e.getMessage());
    } catch (StackOverflowError e) { // the parser recurses once per level
      error(null, "nested too deeply");
    }
  }

  private void section(Node node, String path) {
    if (isNull(node)) {
      return;
    }
    if (!(node instanceof MappingNode mapping)) {
      String what = path.isEmpty() ? "the file" : path;
      error(mark(node), what + " has to be a map of " + String.join(", ", childrenOf(path)));
      return;
    }
    Set<String> seen = new HashSet<>();
    for (NodeTuple tuple : mapping.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        error(mark(tuple.getKeyNode()), "a key has to be a name");
      } else if (!seen.add(key.getValue())) {
        error(mark(key), key.getValue() + " is given twice");
      } else {
        field(path, key, tuple.getValueNode());
      }
    }
  }

  private void field(String section, ScalarNode key, Node value) {
    String path = section.isEmpty() ? key.getValue() : section + "." + key.getValue();
    Setting<?> setting = Settings.at(path);
    if (setting != null && setting.form().structure() != null) {
      structure(setting, value);
    } else if (setting != null) {
      List<String> texts = texts(setting, value);
      if (texts == null) {
        error(mark(value), path + " has to be " + setting.form().expected());
      } else if (!isNull(value)) {
        values.read(setting, texts, origin(mark(value)));
      }
    } else if (!childrenOf(path).isEmpty()) {
      section(value, path);
    } else {
      String hint = Spelling.hint(key.getValue(), childrenOf(section));
      error(mark(key), "unknown key " + Forms.alwaysQuoted(path) + hint);
    }
  }

  private <T> void structure(Setting<T> setting, Node node) {
    Form.Structure<T> structure = setting.form().structure();
    if (structure == null || isNull(node)) {
      return;
    }
    int errors = values.errors().size();
    T value = structure.read(node, (part, what) -> error(mark(part), what));
    if (values.errors().size() == errors) {
      values.put(setting, value, origin(mark(node)));
    }
  }

  /** Returns the texts of a node, or null when the setting cannot be written that way. */
  private static @Nullable List<String> texts(Setting<?> setting, Node node) {
    if (node instanceof ScalarNode scalar) {
      return List.of(scalar.getValue());
    }
    if (!setting.form().list() || !(node instanceof SequenceNode sequence)) {
      return null;
    }
    List<String> texts = new ArrayList<>();
    for (Node element : sequence.getValue()) {
      if (!(element instanceof ScalarNode scalar)) {
        return null;
      }
      texts.add(scalar.getValue());
    }
    return texts;
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

  private static boolean isNull(Node node) {
    return node instanceof ScalarNode && node.getTag().equals(Tag.NULL);
  }

  private static @Nullable Mark mark(Node node) {
    return node.getStartMark().orElse(null);
  }

  private void error(@Nullable Mark mark, String message) {
    values.error(origin(mark), message);
  }

  private Origin origin(@Nullable Mark mark) {
    return mark == null
        ? Origin.file(name, 1, 1)
        : Origin.file(name, mark.getLine() + 1, mark.getColumn() + 1);
  }
}
