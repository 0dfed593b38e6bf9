package io.throttlekit.service.config.load;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.schema.FailsafeSchema;

/** The settings, as the resource {@code service-settings.yaml} declares them. */
final class Settings {
  private static final String RESOURCE = "/service-settings.yaml";
  private static final Map<String, Object> DECLARED = map(read());

  /** The settings of each table of the documents, by its heading. */
  static final Map<String, List<Setting>> TABLES = tables();

  /** All settings, in the order in which they are printed. */
  static final List<Setting> ALL = TABLES.values().stream().flatMap(List::stream).toList();

  private static final Map<String, Setting> BY_PATH = index(Setting::path);
  private static final Map<String, Setting> BY_FIELD = index(Setting::field);

  /** The options of {@code serve}. */
  static final List<ServeOption> OPTIONS =
      map(DECLARED.get("options")).entrySet().stream()
          .map(option -> option(option.getKey(), map(option.getValue())))
          .toList();

  private static final Map<String, Form> VARIABLES =
      map(DECLARED.get("variables")).entrySet().stream()
          .collect(
              Collectors.toMap(
                  Map.Entry::getKey, variable -> form(withForm(map(variable.getValue())))));

  private Settings() {}

  /**
   * Returns the syntax of a variable of envoyproxy/ratelimit that is no setting by itself.
   *
   * @throws NullPointerException if it is not declared, which is a bug
   */
  static Form variable(String name) {
    return Objects.requireNonNull(VARIABLES.get(name), name);
  }

  /** Returns the setting at a path of the file; null if there is none. */
  static @Nullable Setting find(String path) {
    return BY_PATH.get(path);
  }

  /**
   * Returns the setting at a path of the file.
   *
   * @throws NullPointerException if there is none, which is a bug
   */
  static Setting at(String path) {
    return Objects.requireNonNull(find(path), path);
  }

  /**
   * Returns the setting whose value a component of {@code ServiceConfig} has.
   *
   * @throws NullPointerException if there is none, which is a bug
   */
  static Setting ofField(String field) {
    return Objects.requireNonNull(BY_FIELD.get(field), field);
  }

  /**
   * Returns variables of envoyproxy/ratelimit that have no effect here, by the reason.
   *
   * @param when {@code with_store}, {@code without_store} or {@code always}
   */
  static Map<String, List<String>> ignored(String when) {
    Map<String, List<String>> ignored = new LinkedHashMap<>();
    map(map(DECLARED.get("ignored")).get(when))
        .forEach((reason, names) -> ignored.put(reason, list(names)));
    return ignored;
  }

  /** Returns variables of envoyproxy/ratelimit that have no effect here, and turn features on. */
  static List<String> switches() {
    return list(DECLARED.get("switches"));
  }

  private static Map<String, List<Setting>> tables() {
    Map<String, List<Setting>> tables = new LinkedHashMap<>();
    map(DECLARED.get("settings"))
        .forEach((heading, settings) -> {
          List<Setting> table = new ArrayList<>();
          map(settings).forEach((path, declared) -> table.add(setting(path, map(declared))));
          tables.put(heading, List.copyOf(table));
        });
    return tables;
  }

  private static Setting setting(String path, Map<String, Object> declared) {
    Map<String, Object> all = withForm(declared);
    Form form = form(all);
    Map<String, String> texts = texts(all);
    return new Setting(path, form, form.parseDeclared(list(all.get("default"))), texts);
  }

  private static Form form(Map<String, Object> attributes) {
    return Form.declared(
        texts(attributes), list(attributes.get("words")), map(attributes.get("synonyms")));
  }

  /** Returns the attributes with those of their form that they do not override. */
  private static Map<String, Object> withForm(Map<String, Object> declared) {
    String form = String.valueOf(declared.get("form"));
    Map<String, Object> all = new HashMap<>(Map.of("kind", form, "default", ""));
    all.putAll(map(map(DECLARED.get("forms")).get(form)));
    all.putAll(declared);
    return all;
  }

  private static ServeOption option(String name, Map<String, Object> declared) {
    String setting = String.valueOf(declared.getOrDefault("setting", ""));
    return new ServeOption(
        name,
        setting,
        String.valueOf(declared.get("label")),
        list(declared.get("help")),
        !setting.isEmpty() && at(setting).form().list());
  }

  private static Map<String, Setting> index(Function<Setting, String> key) {
    return ALL.stream().collect(Collectors.toUnmodifiableMap(key, setting -> setting));
  }

  private static @Nullable Object read() {
    // Every scalar is a text: the forms of the settings decide what it means.
    LoadSettings settings = LoadSettings.builder().setSchema(new FailsafeSchema()).build();
    try (InputStream in = Settings.class.getResourceAsStream(RESOURCE)) {
      return new Load(settings).loadFromInputStream(Objects.requireNonNull(in, RESOURCE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the entries of a mapping; none of an absent one. */
  @SuppressWarnings("unchecked") // the keys of the resource are texts
  private static Map<String, Object> map(@Nullable Object node) {
    return node == null ? Map.of() : (Map<String, Object>) node;
  }

  private static Map<String, String> texts(Map<String, Object> attributes) {
    return attributes.entrySet().stream()
        .filter(attribute -> attribute.getValue() instanceof String)
        .collect(Collectors.toMap(Map.Entry::getKey, attribute -> (String) attribute.getValue()));
  }

  /** Returns the texts of a list, or a single text; none of an absent list. */
  private static List<String> list(@Nullable Object node) {
    return switch (node) {
      case null -> List.of();
      case List<?> items -> items.stream().map(String::valueOf).toList();
      default -> List.of(node.toString());
    };
  }
}
