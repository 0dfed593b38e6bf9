package io.throttlekit.service.config.load;

import io.throttlekit.service.config.ConcurrencyConfig;
import io.throttlekit.service.config.SensorsConfig;
import io.throttlekit.service.identity.Identity;
import java.time.Duration;
import java.util.List;

/** Settings of the sections {@code concurrency} and {@code sensors}. */
final class SensorsSettings extends Section {
  private static final ConcurrencyConfig CONCURRENCY = ConcurrencyConfig.defaults();
  private static final SensorsConfig SENSORS = SensorsConfig.defaults();

  private final Setting<Boolean> accessLog =
      flag("concurrency.access_log", CONCURRENCY.accessLog());
  private final Setting<Integer> maxSamplesPerSecond =
      count("concurrency.max_samples_per_second", 1, 10_000_000, CONCURRENCY.samplesPerSecond());
  private final Setting<Boolean> loadReports =
      flag("concurrency.load_reports", CONCURRENCY.loadReports());
  // Reports more than 2 s apart would show the load too late to divide limits by.
  private final Setting<Duration> loadReportInterval =
      duration(
          "concurrency.load_report_interval",
          Duration.ofMillis(100),
          Duration.ofSeconds(2),
          CONCURRENCY.loadReportInterval());
  private final Setting<Boolean> steer = flag("concurrency.steer", CONCURRENCY.steer());
  private final Setting<Integer> maxEnvoys =
      count("concurrency.max_envoys", 1, 100_000, CONCURRENCY.maxEnvoys());

  private final Setting<String> listen =
      setting("sensors.listen", Forms.address(), SENSORS.host() + ":" + SENSORS.port());
  private final ServerTlsSettings tls = part(new ServerTlsSettings("sensors"));
  private final Setting<List<Identity>> identities =
      setting("sensors.identities", Forms.identities(), List.of());
  private final Setting<Boolean> bindNodeId = flag("sensors.bind_node_id", SENSORS.bindsNodeId());
  private final Setting<Integer> maxStreams =
      count("sensors.max_streams", 1, 1_000_000, SENSORS.maxStreams());
  private final Setting<Integer> maxStreamsPerConnection =
      count("sensors.max_streams_per_connection", 1, 100_000, SENSORS.streamsPerConnection());

  ConcurrencyConfig concurrency(SettingValues values) {
    return new ConcurrencyConfig(
        values.get(accessLog),
        values.get(maxSamplesPerSecond),
        values.get(loadReports),
        values.get(loadReportInterval),
        values.get(steer),
        values.get(maxEnvoys));
  }

  SensorsConfig sensors(SettingValues values) {
    values.needs(identities, tls.clientCa);
    values.needs(bindNodeId, tls.clientCa);
    return new SensorsConfig(
        Forms.hostOf(values.get(listen)),
        Forms.portOf(values.get(listen)),
        tls.assemble(values, ""),
        values.get(identities),
        values.get(bindNodeId),
        values.get(maxStreams),
        values.get(maxStreamsPerConnection));
  }
}
