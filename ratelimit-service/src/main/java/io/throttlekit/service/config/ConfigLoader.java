package io.throttlekit.service.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts together what is said of the configuration: the file, over it the environment, over it the
 * command line.
 *
 * <p>A process that was started with nothing but envoyproxy/ratelimit's environment begins with
 * that program's defaults. Thread-safe.
 */
public final class ConfigLoader {

  private final Map<String, String> environment;

  /** A loader for a process with these environment variables. */
  public ConfigLoader(Map<String, String> environment) {
    this.environment = Map.copyOf(environment);
  }

  /** The configuration, or every reason why there is none; does not throw. */
  public LoadedConfig load(ServeFlags flags) {
    SettingValues values = new SettingValues();
    String file = flags.config() != null ? flags.config() : variable("THROTTLEKIT_CONFIG");
    boolean standsIn =
        flags.policies().isEmpty()
            && file == null
            && variable(Settings.POLICY_PATHS.variable()) == null
            && PeerEnvironment.namesPolicies(environment);
    PeerEnvironment peer = new PeerEnvironment(environment, values, standsIn);
    if (standsIn) {
      peer.putDefaults();
    }
    if (file != null) {
      readFile(file, flags.config() != null, values);
    }
    peer.read();
    OwnEnvironment.read(environment, values);
    flags.read(values);
    warnOfStoreHealth(values);
    ServiceConfig config = ConfigAssembly.assemble(values);
    return new LoadedConfig(
        values.errors().isEmpty() ? config : null,
        values.errors(),
        values.warnings(),
        ConfigPrinter.print(values));
  }

  private static void warnOfStoreHealth(SettingValues values) {
    Setting<Boolean> setting = Settings.STORE_MUST_BE_REACHABLE;
    Origin peer = new Origin.Variable("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION"); // told already
    if (values.get(setting) && !values.origin(setting).equals(peer)) {
      values.warn(
          setting.path() + " has no effect: counters are in memory, which is always reachable");
    }
  }

  private static void readFile(String file, boolean asOption, SettingValues values) {
    try {
      ConfigFile.read(Path.of(file), values);
    } catch (InvalidPathException e) {
      values.error(
          asOption ? new Origin.Option("--config") : new Origin.Variable("THROTTLEKIT_CONFIG"),
          Forms.alwaysQuoted(file) + " is not the path of a file");
    }
  }

  private @Nullable String variable(String name) {
    String value = environment.get(name);
    return value == null || value.isEmpty() ? null : value;
  }
}
