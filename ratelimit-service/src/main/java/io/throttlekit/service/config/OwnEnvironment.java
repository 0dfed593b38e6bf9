package io.throttlekit.service.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Reads the environment variables that override settings of the file. */
final class OwnEnvironment {

  /** Variables of the start script, and the one with the file's path. */
  private static final List<String> NOT_FIELDS =
      List.of("THROTTLEKIT_CONFIG", "THROTTLEKIT_JAVA_OPTIONS", "THROTTLEKIT_TRAIN_AFTER");

  /** Variables that Kubernetes sets for a Service named throttlekit. */
  private static final Pattern SERVICE_LINK =
      Pattern.compile(
          "THROTTLEKIT_.*(SERVICE_(HOST|PORT)|PORT_[0-9]+_(TCP|UDP|SCTP)).*|THROTTLEKIT_PORT");

  private OwnEnvironment() {}

  /** Puts the variables' settings into {@code values}; an empty variable is ignored. */
  static void read(Map<String, String> environment, SettingValues values) {
    Map<String, Setting<?>> settings = new LinkedHashMap<>();
    Settings.ALL.forEach(setting -> settings.put(setting.variable(), setting));
    new TreeMap<>(environment)
        .forEach((name, value) -> {
          Setting<?> setting = settings.get(name);
          if (setting != null && !value.isEmpty()) {
            values.read(setting, setting.form().split(value), new Origin.Variable(name));
          } else if (setting == null && isMeantForUs(name)) {
            values.error(
                new Origin.Variable(name),
                "there is no such setting" + Spelling.hint(name, settings.keySet()));
          }
        });
  }

  private static boolean isMeantForUs(String name) {
    return name.startsWith("THROTTLEKIT_")
        && !NOT_FIELDS.contains(name)
        && !SERVICE_LINK.matcher(name).matches();
  }
}
