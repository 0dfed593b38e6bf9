package io.throttlekit.service.config.load;

import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.service.config.ServiceConfig;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Merges the configuration: the file, overridden by environment variables, overridden by the
 * command line.
 *
 * <p>Where policies are read from the folder of envoyproxy/ratelimit, that program's defaults
 * apply. All other settings change only themselves. Thread-safe.
 */
public final class ConfigLoader {
  private static final String CONFIG = "THROTTLEKIT_CONFIG";
  private static final String CONFIG_OPTION = "--config";

  /** Variables of the start script, and the one with the file's path. */
  private static final List<String> NOT_FIELDS =
      List.of(CONFIG, "THROTTLEKIT_JAVA_OPTIONS", "THROTTLEKIT_TRAIN_AFTER");

  private final Map<String, String> environment;

  /** Variables of Kubernetes that have the name of a setting, or one like it. */
  private final Set<String> links;

  /**
   * Creates a loader for a process with these environment variables; empty ones are ignored, and
   * those that Kubernetes sets for Services.
   */
  public ConfigLoader(Map<String, String> environment) {
    Map<String, String> set = new TreeMap<>(environment);
    set.values().removeIf(String::isEmpty);
    this.links = ServiceLinks.removeFrom(set, Settings.peerVariables());
    this.environment = set;
  }

  /** Returns the options of {@code serve}. */
  public static List<ServeOption> options() {
    return Settings.options();
  }

  /** Returns the configuration without a file, variables and options. */
  public static ServiceConfig defaults() {
    return Assembly.of(new SettingValues());
  }

  /**
   * Returns the configuration, or every reason why there is none; does not throw.
   *
   * @param options values of the {@link #options} that are given, by their names
   */
  public LoadedConfig load(Map<String, List<String>> options) {
    SettingValues values = new SettingValues();
    PeerEnvironment peer = new PeerEnvironment(environment, values);
    // In order of precedence: each source overrides the ones before it.
    readFile(options.get(CONFIG_OPTION), values);
    peer.read();
    readEnvironment(values);
    for (ServeOption option : Settings.options()) {
      List<String> texts = options.get(option.name());
      if (texts != null && !option.setting().isEmpty()) {
        values.read(Settings.at(option.setting()), texts, Origin.option(option.name()));
      }
    }
    boolean xds = peer.isOverXds() && !values.differs("policies.paths");
    boolean standsIn = Assembly.standsIn(values) || xds;
    if (standsIn) {
      peer.putDefaults();
    }
    peer.checkSecondRedis();
    peer.warnOfIgnored();
    ServiceConfig config = Assembly.of(values);
    return new LoadedConfig(
        values.errors().isEmpty() ? config : null,
        values.errors(),
        values.warnings(),
        describeLinks(),
        describeDefaults(standsIn, values),
        ConfigFile.print(values));
  }

  private String describeLinks() {
    return links.isEmpty()
        ? ""
        : "skipped, because Kubernetes sets them for Services (enableServiceLinks: false in the pod"
            + " turns that off): "
            + String.join(", ", links);
  }

  private static String describeDefaults(boolean standsIn, SettingValues values) {
    boolean xds = Assembly.overXds(values);
    String files = standsIn ? "policies.runtime.root" : "policies.paths";
    String place = xds ? "policies.xds.server" : files;
    String described = values.print(place) + ", " + values.origin(place);
    return standsIn
        ? "the defaults of envoyproxy/ratelimit apply: policies are read where it reads them"
            + " (%s), and policies.paths is not set".formatted(described)
        : "the service's own defaults apply: policies are read from " + described;
  }

  private void readFile(@Nullable List<String> option, SettingValues values) {
    String file = option == null ? environment.get(CONFIG) : option.getFirst();
    if (file == null) {
      return;
    }
    try {
      ConfigFile.read(Path.of(file), values);
    } catch (InvalidPathException e) {
      values.error(
          option == null ? Origin.variable(CONFIG) : Origin.option(CONFIG_OPTION),
          Yaml.alwaysQuoted(file) + " is not the path of a file");
    }
  }

  /** Reads the variables that override settings of the file. */
  private void readEnvironment(SettingValues values) {
    Map<String, Setting> settings = new LinkedHashMap<>();
    Settings.ALL.forEach(setting -> settings.put(setting.variable(), setting));
    environment.forEach((name, value) -> {
      Setting setting = settings.get(name);
      if (setting != null) {
        values.read(setting, setting.form().split(value), Origin.variable(name));
      } else if (name.startsWith("THROTTLEKIT_") && !NOT_FIELDS.contains(name)) {
        values.error(
            Origin.variable(name),
            "there is no such setting" + Wording.hint(name, settings.keySet()));
      }
    });
  }
}
