package io.throttlekit.service.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Values of settings with their origins, and errors found so far. Not thread-safe. */
final class SettingValues {

  private static final Origin DEFAULT = new Origin.Default();

  private static final String SERVICE_LINK =
      " (Kubernetes sets such variables for Services; enableServiceLinks: false turns that off)";

  /** A value and its origin. */
  private record Said(Object value, Origin origin) {}

  private final Map<Setting<?>, Said> said = new LinkedHashMap<>();
  private final Set<Setting<?>> malformed = new HashSet<>();
  private final List<String> errors = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();

  /** Returns the effective value. */
  @SuppressWarnings("unchecked") // put accepts a setting's own type only
  <T> T get(Setting<T> setting) {
    Said found = said.get(setting);
    return found == null ? setting.fallback() : (T) found.value();
  }

  /** Returns the origin of the effective value. */
  Origin origin(Setting<?> setting) {
    Said found = said.get(setting);
    return found == null ? DEFAULT : found.origin();
  }

  /** Returns whether a configured text of the setting was invalid. */
  boolean malformed(Setting<?> setting) {
    return malformed.contains(setting);
  }

  /** Replaces the effective value. */
  <T> void put(Setting<T> setting, T value, Origin origin) {
    said.put(setting, new Said(value, origin));
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
  void needs(Setting<String> what, Setting<String> other) {
    if (!get(what).isEmpty() && get(other).isEmpty()) {
      error(origin(what), what + " needs " + other);
    }
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
    // Keeps an error on one line of a terminal.
    String shown = value.length() > 120 ? value.substring(0, 120) + "…" : value;
    String reason = complaint.reason().apply(text);
    // Kubernetes gives tcp:// values to the variables of a Service, whose names may be like ours.
    return Forms.alwaysQuoted(shown)
        + (reason.isEmpty() ? " is not " + setting.form().expected() : ": " + reason)
        + Spelling.hint(value, setting.form().words())
        + (origin instanceof Origin.Variable && value.startsWith("tcp://") ? SERVICE_LINK : "");
  }
}
