package io.throttlekit.service.config.load;

import io.throttlekit.service.config.XdsConfig;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes the configuration of policies over xDS from the values of settings. */
final class XdsSettings {
  private static final String SECTION = "policies.xds.";
  private static final String SERVER = SECTION + "server";
  private static final String TLS = SECTION + "tls.";
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
  private static final Pattern HEADER_VALUE = Pattern.compile("[ -~]{0,8192}");

  private final SettingValues values;

  private XdsSettings(SettingValues values) {
    this.values = values;
  }

  /** Returns the configuration; null if no control plane is named, or files are. */
  static @Nullable XdsConfig read(SettingValues values) {
    XdsSettings settings = new XdsSettings(values);
    if (!values.differs(SERVER)) {
      settings.warnOfNoEffect(SECTION, "there is no " + SERVER);
      return null;
    }
    if (values.differs("policies.paths")) {
      values.warnOfNoEffect(SERVER, "policies.paths names files");
      return null;
    }
    return settings.config();
  }

  private void warnOfNoEffect(String prefix, String reason) {
    for (Setting setting : Settings.ALL) {
      if (setting.path().startsWith(prefix)) {
        values.warnIfSet(setting.path(), reason);
      }
    }
  }

  private XdsConfig config() {
    Duration max = values.duration(SECTION + "backoff.max");
    return new XdsConfig(
        values.text(SERVER),
        values.text(SECTION + "node_id"),
        pairs(SECTION + "node_metadata", "="),
        headers(),
        tls(),
        new XdsConfig.Backoff(
            least(values.duration(SECTION + "connect_retry_interval"), max),
            least(values.duration(SECTION + "backoff.initial"), max),
            max,
            values.ratio(SECTION + "backoff.jitter")),
        values.count(SECTION + "max_message_bytes"),
        values.path(SECTION + "folder"),
        values.path(SECTION + "overrides"));
  }

  private static Duration least(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  private XdsConfig.@Nullable XdsTls tls() {
    String enabled = TLS + "enabled";
    if (!values.flag(enabled)) {
      warnOfNoEffect(TLS, enabled + " is false");
      return null;
    }
    String name = values.text(TLS + "server_name");
    return new XdsConfig.XdsTls(
        values.path(TLS + "ca"),
        name.isEmpty() ? null : name,
        values.path(TLS + "certificate"),
        values.path(TLS + "key"));
  }

  private Map<String, String> headers() {
    String setting = SECTION + "headers";
    Map<String, String> headers = new LinkedHashMap<>();
    pairs(setting, ":")
        .forEach((name, value) -> {
          String lower = name.toLowerCase(Locale.ROOT); // as HTTP/2 requires
          if (!NAME.matcher(name).matches() || lower.endsWith("-bin")) {
            values.error(
                values.origin(setting), Yaml.alwaysQuoted(name) + " is not the name of a header");
          } else if (!HEADER_VALUE.matcher(value).matches()) {
            values.error(
                values.origin(setting),
                "the value of " + name + " has characters other than printable ASCII");
          } else {
            headers.put(lower, value);
          }
        });
    return headers;
  }

  /** Returns pairs that are separated by commas; their values may be secrets. */
  private Map<String, String> pairs(String setting, String separator) {
    Map<String, String> pairs = new LinkedHashMap<>();
    String text = values.text(setting);
    for (String pair : text.isEmpty() ? List.<String>of() : List.of(text.split(",", -1))) {
      int at = pair.indexOf(separator);
      if (at < 1) {
        values.error(
            values.origin(setting),
            "each part of %s is NAME%sVALUE, separated by commas".formatted(setting, separator));
        return Map.of();
      }
      pairs.put(pair.substring(0, at).strip(), pair.substring(at + 1).strip());
    }
    return pairs;
  }
}
