package io.throttlekit.service.config.load;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Values of settings with their origins, and errors found so far. Not thread-safe. */
final class SettingValues {
  private static final int MAX_SHOWN = 120; // keeps an error on one line of a terminal

  private static final String SERVICE_LINK =
      " (Kubernetes sets such variables for Services; enableServiceLinks: false turns that off)";

  /** A value and its origin. */
  private record Configured(Object value, Origin origin) {}

  private final Map<Setting<?>, Configured> configured = new LinkedHashMap<>();
  private final Set<Setting<?>> malformed = new HashSet<>();
  private final List<String> errors = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();

  /** Returns the effective value. */
  @SuppressWarnings("unchecked") // put accepts a setting's own type only
  <T> T get(Setting<T> setting) {
    Configured found = configured.get(setting);
    return found == null ? setting.fallback() : (T) found.value();
  }

  /** Returns the path of a file; null for an empty text. */
  @Nullable Path path(Setting<String> setting) {
    String text = get(setting);
    return text.isEmpty() ? null : Path.of(text);
  }

  /** Returns the origin of the effective value. */
  Origin origin(Setting<?> setting) {
    Configured found = configured.get(setting);
    return found == null ? Origin.DEFAULT : found.origin();
  }

  /** Returns whether the effective value is another than the default. */
  boolean differs(Setting<?> setting) {
    return !get(setting).equals(setting.fallback());
  }

  /** Returns whether a configured text of the setting was invalid. */
  boolean malformed(Setting<?> setting) {
    return malformed.contains(setting);
  }

  /** Replaces the effective value. */
  <T> void put(Setting<T> setting, T value, Origin origin) {
    configured.put(setting, new Configured(value, origin));
  }

  /** Replaces the effective value unless it is configured. */
  <T> void putDefault(Setting<T> setting, T value) {
    if (origin(setting).equals(Origin.DEFAULT)) {
      put(setting, value, Origin.PEER_DEFAULT);
    }
  }

  /** Replaces the effective value by the parsed texts, or reports an error in them. */
  <T> void read(Setting<T> setting, List<String> texts, Origin origin) {
    T value = setting.form().parse(texts);
    if (value == null) {
      malformed.add(setting);
      error(origin, malformed(setting, texts, origin));
    } else {
      put(setting, value, origin);
    }
  }

  /** Returns the effective value as YAML. */
  <T> String print(Setting<T> setting) {
    return setting.form().printer().apply(get(setting));
  }

  /** Reports an error when a setting has a value and another one that it requires has none. */
  void needs(Setting<?> setting, Setting<String> other) {
    if (differs(setting) && get(other).isEmpty()) {
      error(origin(setting), setting + " needs " + other);
    }
  }

  /** Warns of a value other than the default that has no effect. */
  void warnIfSet(Setting<?> setting, String reason) {
    if (differs(setting)) {
      warnOfNoEffect(setting, reason);
    }
  }

  /** Warns that a value has no effect. */
  void warnOfNoEffect(Setting<?> setting, String reason) {
    warn("%s (%s) has no effect: %s".formatted(setting, origin(setting), reason));
  }

  void error(Origin origin, String message) {
    errors.add(origin + ": " + message);
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

  private static String malformed(Setting<?> setting, List<String> texts, Origin origin) {
    String text = String.join(",", texts);
    Form.InvalidText complaint = setting.form().complaint();
    String value = complaint.shown().apply(text);
    String shown = value.length() > MAX_SHOWN ? value.substring(0, MAX_SHOWN) + "…" : value;
    String reason = complaint.reason().apply(text);
    // Kubernetes gives tcp:// values to the variables of a Service, whose names may be like ours.
    boolean link = origin.source() == Origin.Source.ENVIRONMENT && value.startsWith("tcp://");
    return Forms.alwaysQuoted(shown)
        + (reason.isEmpty() ? " is not " + setting.form().expected() : ": " + reason)
        + Spelling.hint(value, setting.form().words())
        + (link ? SERVICE_LINK : "");
  }
}
