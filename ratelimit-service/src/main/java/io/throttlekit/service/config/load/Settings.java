package io.throttlekit.service.config.load;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceEndEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;

/** The settings, as the resource {@code service-settings.yaml} declares them. */
final class Settings {
  private static final String RESOURCE = "/service-settings.yaml";
  private static final Map<String, Object> DECLARED = read();

  /** The settings of each table of the documents, by its heading. */
  static final Map<String, List<Setting>> TABLES = tables();

  /** All settings, in the order in which they are printed. */
  static final List<Setting> ALL = TABLES.values().stream().flatMap(List::stream).toList();

  private static final Map<String, Setting> BY_PATH =
      ALL.stream().collect(Collectors.toUnmodifiableMap(Setting::path, setting -> setting));

  private Settings() {}

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

  /** Returns the options of {@code serve}. */
  static List<ServeOption> options() {
    return map(DECLARED.get("options")).entrySet().stream()
        .map(option -> option(option.getKey(), map(option.getValue())))
        .toList();
  }

  /** Returns the syntax of a variable of envoyproxy/ratelimit that is no setting by itself. */
  static Form variable(String name) {
    return form(withForm(map(map(DECLARED.get("variables")).get(name))));
  }

  /** Returns the variables of envoyproxy/ratelimit that are no setting by themselves. */
  static Set<String> variables() {
    return map(DECLARED.get("variables")).keySet();
  }

  /** Returns the variables of envoyproxy/ratelimit that are read. */
  static Set<String> peerVariables() {
    Set<String> names = new HashSet<>(variables());
    for (Setting setting : ALL) {
      names.add(setting.attribute("peer"));
      names.add(setting.attribute("peer_not"));
    }
    names.remove("");
    return names;
  }

  /**
   * Returns variables of envoyproxy/ratelimit that have no effect here, by the reason.
   *
   * @param when {@code with_} or {@code without_} {@code store}, {@code second_redis} or {@code
   *     xds}, or {@code always}
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
    return Collections.unmodifiableMap(tables);
  }

  private static Setting setting(String path, Map<String, Object> declared) {
    Map<String, Object> attributes = withForm(declared);
    Form form = form(attributes);
    Object fallback = form.parseDeclared(list(attributes.get("default")));
    return new Setting(path, form, fallback, attributes);
  }

  private static Form form(Map<String, Object> attributes) {
    return Form.declared(
        attributes, list(attributes.get("words")), map(attributes.get("synonyms")));
  }

  /** Returns the attributes with those of their form that they do not override. */
  private static Map<String, Object> withForm(Map<String, Object> declared) {
    String form = String.valueOf(declared.get("form"));
    Map<String, Object> attributes = new HashMap<>(map(map(DECLARED.get("forms")).get(form)));
    attributes.putIfAbsent("kind", form);
    attributes.putIfAbsent("default", "");
    attributes.putAll(declared);
    return attributes;
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

  private static Map<String, Object> read() {
    try (InputStream in = Settings.class.getResourceAsStream(RESOURCE)) {
      byte[] bytes = Objects.requireNonNull(in, RESOURCE).readAllBytes();
      String text = new String(bytes, StandardCharsets.UTF_8);
      LoadSettings settings = LoadSettings.builder().setBufferSize(text.length() + 1).build();
      Iterator<Event> events = new Parse(settings).parseString(text).iterator();
      events.next(); // the start of the stream
      events.next(); // the start of the document
      return map(node(events.next(), events));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns a text, a list or a map. Every scalar is a text: the forms of the settings decide what
   * it means. The events are read, as composing nodes takes thrice as long.
   */
  private static Object node(Event event, Iterator<Event> rest) {
    if (event instanceof ScalarEvent scalar) {
      return scalar.getValue();
    }
    if (event instanceof SequenceStartEvent) {
      List<Object> list = new ArrayList<>();
      for (Event next = rest.next(); !(next instanceof SequenceEndEvent); next = rest.next()) {
        list.add(node(next, rest));
      }
      return list;
    }
    Map<String, Object> map = new LinkedHashMap<>();
    for (Event next = rest.next(); !(next instanceof MappingEndEvent); next = rest.next()) {
      map.put(node(next, rest).toString(), node(rest.next(), rest));
    }
    return map;
  }

  /** Returns the entries of a mapping; none of an absent one. */
  @SuppressWarnings("unchecked") // its keys are texts
  private static Map<String, Object> map(@Nullable Object node) {
    return node == null ? Map.of() : (Map<String, Object>) node;
  }

  /** Returns the texts of a list, or a single text; none of an absent list. */
  @SuppressWarnings("unchecked") // lists of the resource contain texts only
  private static List<String> list(@Nullable Object node) {
    if (node instanceof String text) {
      return List.of(text);
    }
    return node == null ? List.of() : (List<String>) node;
  }
}
