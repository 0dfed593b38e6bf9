package io.throttlekit.service.config.load;

import io.throttlekit.descriptors.source.Wording;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Values of settings, by their paths, with their origins, and errors found so far. Not thread-safe.
 */
final class SettingValues {
  private static final int MAX_SHOWN = 120; // keeps an error on one line of a terminal

  /** A value and its origin. */
  private record Configured(Object value, Origin origin) {}

  private final Map<String, Configured> configured = new HashMap<>();
  private final Set<String> malformed = new HashSet<>();
  private final List<String> errors = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();

  /** Returns the effective value. */
  Object get(String path) {
    Configured found = configured.get(path);
    return found == null ? Settings.at(path).fallback() : found.value();
  }

  String text(String path) {
    return (String) get(path);
  }

  /** Returns the path of a file; null for an empty text. */
  @Nullable Path path(String path) {
    String text = text(path);
    return text.isEmpty() ? null : Path.of(text);
  }

  boolean flag(String path) {
    return (boolean) get(path);
  }

  long number(String path) {
    return (long) get(path);
  }

  /** Returns a whole number whose range is within that of an int. */
  int count(String path) {
    return Math.toIntExact(number(path));
  }

  double ratio(String path) {
    return (double) get(path);
  }

  Duration duration(String path) {
    return (Duration) get(path);
  }

  StoreUri uri(String path) {
    return (StoreUri) get(path);
  }

  /** Returns a list of the values that the form of the setting makes. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the caller knows the form
  <T> List<T> list(String path) {
    return (List<T>) get(path);
  }

  /** Returns the origin of the effective value. */
  Origin origin(String path) {
    Configured found = configured.get(path);
    return found == null ? Origin.DEFAULT : found.origin();
  }

  /** Returns whether the effective value is another than the default. */
  boolean differs(String path) {
    return !get(path).equals(Settings.at(path).fallback());
  }

  /** Returns whether a configured text of the setting was invalid. */
  boolean malformed(String path) {
    return malformed.contains(path);
  }

  /** Replaces the effective value. */
  void put(String path, Object value, Origin origin) {
    configured.put(path, new Configured(value, origin));
  }

  /** Replaces the effective value unless it is configured. */
  void putDefault(String path, String text) {
    if (origin(path).equals(Origin.DEFAULT)) {
      put(path, Settings.at(path).form().parseDeclared(List.of(text)), Origin.PEER_DEFAULT);
    }
  }

  /** Replaces the effective value by the parsed text, or reports an error in it. */
  void read(String path, String text, Origin origin) {
    read(Settings.at(path), List.of(text), origin);
  }

  /** Replaces the effective value by the parsed texts, or reports an error in them. */
  void read(Setting setting, List<String> texts, Origin origin) {
    Object value = parse(setting.form(), texts, origin);
    if (value == null) {
      malformed.add(setting.path());
    } else {
      put(setting.path(), value, origin);
    }
  }

  /** Returns the value of the texts; null after reporting an error in them. */
  @Nullable Object parse(Form form, List<String> texts, Origin origin) {
    String problem = " is not " + form.expected();
    try {
      Object value = form.parse(texts);
      if (value != null) {
        return value;
      }
    } catch (InvalidTextException e) {
      problem = ": " + e.getMessage();
    }
    String value = form.mask().apply(String.join(",", texts));
    String shown = value.length() > MAX_SHOWN ? value.substring(0, MAX_SHOWN) + "…" : value;
    error(origin, Yaml.alwaysQuoted(shown) + problem + Wording.hint(value, form.words()));
    return null;
  }

  /** Returns the effective value as YAML, without secrets. */
  String print(String path) {
    Setting setting = Settings.at(path);
    boolean masked = setting.attribute("masked").equals("true");
    return Yaml.print(masked ? setting.form().mask().apply(text(path)) : get(path));
  }

  /** Reports an error when a setting has a value and another one that it requires has none. */
  void needs(String path, String other) {
    if (differs(path) && text(other).isEmpty()) {
      error(origin(path), path + " needs " + other);
    }
  }

  /** Warns of a value other than the default that has no effect. */
  void warnIfSet(String path, String reason) {
    if (differs(path)) {
      warnOfNoEffect(path, reason);
    }
  }

  /** Warns that a value has no effect. */
  void warnOfNoEffect(String path, String reason) {
    warn("%s (%s) has no effect: %s".formatted(path, origin(path), reason));
  }

  /** Reports an error, once. */
  void error(Origin origin, String message) {
    String error = origin + ": " + message;
    if (!errors.contains(error)) {
      errors.add(error);
    }
  }

  void warn(String message) {
    warnings.add(message);
  }

  List<String> errors() {
    return List.copyOf(errors);
  }

  List<String> warnings() {
    return List.copyOf(warnings);
  }
}
