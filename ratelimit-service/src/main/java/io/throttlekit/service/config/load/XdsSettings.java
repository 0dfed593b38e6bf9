package io.throttlekit.service.config.load;

import io.throttlekit.service.config.XdsConfig;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Makes the configuration of policies over xDS from the values of settings. */
final class XdsSettings {
  private static final String SECTION = "policies.xds.";
  private static final String SERVER = SECTION + "server";
  private static final String TLS = SECTION + "tls.";

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
        Pairs.read(values, SECTION + "node_metadata", "="),
        Pairs.headers(values, SECTION + "headers", ":"),
        tls(),
        new XdsConfig.Backoff(
            least(values.duration(SECTION + "connect_retry_interval"), max),
            least(values.duration(SECTION + "backoff.initial"), max),
            max,
            Math.max(1, values.ratio(SECTION + "backoff.growth")),
            values.ratio(SECTION + "backoff.jitter")),
        values.count(SECTION + "max_message_bytes"),
        values.path("policies.last_good_folder"),
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
}
