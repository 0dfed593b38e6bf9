package io.throttlekit.service.config.load;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of the command line, as written; null for absent ones.
 *
 * @param policies files or folders
 * @param config the configuration file
 * @param grpcPort port of the gRPC listener
 * @param httpPort port of the HTTP listener
 * @param debugPort port of the debug listener
 * @param store URI of the store for counters
 * @param region name of this process's region
 * @param coordinator URI of the store from which regions lease shared limits
 */
public record ServeFlags(
    List<String> policies,
    @Nullable String config,
    @Nullable String grpcPort,
    @Nullable String httpPort,
    @Nullable String debugPort,
    @Nullable String store,
    @Nullable String region,
    @Nullable String coordinator) {

  /** Copies the list. */
  public ServeFlags {
    policies = List.copyOf(policies);
  }

  /** Returns a command line without options. */
  public static ServeFlags none() {
    return new ServeFlags(List.of(), null, null, null, null, null, null, null);
  }

  void read(SettingValues values) {
    if (!policies.isEmpty()) {
      values.read(Settings.POLICIES.paths, policies, Origin.option("--policies"));
    }
    read(values, Settings.LISTENERS.grpcPort, grpcPort, "--grpc-port");
    read(values, Settings.LISTENERS.httpPort, httpPort, "--http-port");
    read(values, Settings.LISTENERS.debugPort, debugPort, "--debug-port");
    read(values, Settings.STORE.uri, store, "--store");
    read(values, Settings.FEDERATION.region, region, "--region");
    read(values, Settings.FEDERATION.coordinator, coordinator, "--coordinator");
  }

  private static void read(
      SettingValues values, Setting<?> setting, @Nullable String text, String option) {
    if (text != null) {
      values.read(setting, List.of(text), Origin.option(option));
    }
  }
}
