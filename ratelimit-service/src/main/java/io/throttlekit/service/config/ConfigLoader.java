package io.throttlekit.service.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Merges the configuration: the file, overridden by environment variables, overridden by the
 * command line.
 *
 * <p>Where policies are read from the folder of envoyproxy/ratelimit, that program's defaults
 * apply. All other settings change only themselves. Thread-safe.
 */
public final class ConfigLoader {

  private final Map<String, String> environment;

  /** Creates a loader for a process with these environment variables. */
  public ConfigLoader(Map<String, String> environment) {
    this.environment = Map.copyOf(environment);
  }

  /** Returns the configuration, or every reason why there is none; does not throw. */
  public LoadedConfig load(ServeFlags flags) {
    SettingValues values = new SettingValues();
    String file = flags.config() != null ? flags.config() : variable("THROTTLEKIT_CONFIG");
    PeerEnvironment peer = new PeerEnvironment(environment, values);
    if (file != null) {
      readFile(file, flags.config() != null, values);
    }
    // In order of precedence: each source overrides the ones before it.
    peer.read();
    OwnEnvironment.read(environment, values);
    flags.read(values);
    boolean standsIn =
        values.get(Settings.POLICY_PATHS).isEmpty() && !values.get(Settings.RUNTIME_ROOT).isEmpty();
    if (standsIn) {
      peer.putDefaults();
    }
    peer.warnOfIgnored();
    warnOfPort(values);
    warnOfStoreHealth(values);
    ServiceConfig config = ConfigAssembly.assemble(values);
    return new LoadedConfig(
        values.errors().isEmpty() ? config : null,
        values.errors(),
        values.warnings(),
        defaults(standsIn, values),
        ConfigPrinter.print(values));
  }

  private static String defaults(boolean standIn, SettingValues values) {
    return standIn
        ? "the defaults of envoyproxy/ratelimit apply: policies are read where it reads them"
            + " (%s), and policies.paths is not set".formatted(said(values, Settings.RUNTIME_ROOT))
        : "the service's own defaults apply: policies are read from "
            + said(values, Settings.POLICY_PATHS);
  }

  private static String said(SettingValues values, Setting<?> setting) {
    return values.print(setting) + ", " + values.origin(setting);
  }

  private static void warnOfPort(SettingValues values) {
    boolean said =
        values.origin(Settings.GRPC_PORT) instanceof Origin.Option
            || !values.get(Settings.GRPC_PORT).equals(Settings.GRPC_PORT.fallback());
    if (said && !values.get(Settings.UNIX_SOCKET).isEmpty()) {
      values.warn(
          "grpc.port (%s) has no effect: gRPC is on the Unix socket %s"
              .formatted(values.origin(Settings.GRPC_PORT), said(values, Settings.UNIX_SOCKET)));
    }
  }

  private static void warnOfStoreHealth(SettingValues values) {
    Setting<Boolean> setting = Settings.STORE_MUST_BE_REACHABLE;
    // Has a warning of its own.
    Origin peer = new Origin.Variable("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION");
    if (values.get(StoreSettings.URI).address().inMemory()
        && values.get(setting)
        && !values.origin(setting).equals(peer)) {
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
