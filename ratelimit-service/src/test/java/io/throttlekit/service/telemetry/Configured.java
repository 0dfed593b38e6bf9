package io.throttlekit.service.telemetry;

import io.throttlekit.service.config.TelemetryConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Configurations of telemetry. */
final class Configured {
  private Configured() {}

  /** Returns the configuration by the settings of {@code telemetry} and of their sections. */
  static TelemetryConfig telemetry(Map<String, String> environment) {
    return Objects.requireNonNull(
            new ConfigLoader(environment).load(Map.of("--policies", List.of("p"))).config())
        .telemetry();
  }
}
