package io.throttlekit.service.config.load;

import io.throttlekit.service.config.ServiceConfig;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All settings of the configuration, in the order in which they are printed. */
final class Settings {
  static final PolicySettings POLICIES = new PolicySettings();
  static final ListenerSettings LISTENERS = new ListenerSettings();
  static final StoreSettings STORE = new StoreSettings();
  static final FederationSettings FEDERATION = new FederationSettings();
  private static final SensorsSettings SENSORS = new SensorsSettings();
  static final ResponseSettings RESPONSE = new ResponseSettings();
  static final TelemetrySettings TELEMETRY = new TelemetrySettings();
  private static final ExtAuthzSettings EXT_AUTHZ = new ExtAuthzSettings();

  static final List<Setting<?>> ALL =
      Stream.of(POLICIES, LISTENERS, STORE, FEDERATION, SENSORS, RESPONSE, TELEMETRY, EXT_AUTHZ)
          .<Setting<?>>flatMap(section -> section.settings().stream())
          .toList();

  private Settings() {}

  /** Returns the setting at a path of the file, or null. */
  static @Nullable Setting<?> at(String path) {
    for (Setting<?> setting : ALL) {
      if (setting.path().equals(path)) {
        return setting;
      }
    }
    return null;
  }

  /** Returns the typed configuration; reports values that contradict each other. */
  static ServiceConfig assemble(SettingValues values) {
    return new ServiceConfig(
        POLICIES.assemble(values),
        LISTENERS.grpc(values),
        LISTENERS.http(values),
        LISTENERS.debug(values),
        LISTENERS.metrics(values),
        STORE.assemble(values),
        FEDERATION.assemble(values),
        SENSORS.concurrency(values),
        SENSORS.sensors(values),
        RESPONSE.response(values),
        RESPONSE.compatibility(values),
        TELEMETRY.telemetry(values),
        TELEMETRY.health(values),
        TELEMETRY.warmUp(values),
        EXT_AUTHZ.assemble(values));
  }
}
