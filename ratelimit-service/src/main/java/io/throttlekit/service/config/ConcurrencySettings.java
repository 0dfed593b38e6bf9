package io.throttlekit.service.config;

import java.time.Duration;
import java.util.List;

/** Settings of the section {@code concurrency}, in the order in which they are printed. */
final class ConcurrencySettings {
  private static final ConcurrencyConfig DEFAULTS = ConcurrencyConfig.defaults();

  static final Setting<Boolean> ACCESS_LOG =
      new Setting<>("concurrency.access_log", Forms.flag(), DEFAULTS.accessLog());
  static final Setting<Integer> MAX_SAMPLES_PER_SECOND =
      new Setting<>(
          "concurrency.max_samples_per_second",
          Forms.count(1, 10_000_000),
          DEFAULTS.samplesPerSecond());
  static final Setting<Boolean> LOAD_REPORTS =
      new Setting<>("concurrency.load_reports", Forms.flag(), DEFAULTS.loadReports());
  // Reports more than 2 s apart would show the load too late to divide limits by.
  static final Setting<Duration> LOAD_REPORT_INTERVAL =
      new Setting<>(
          "concurrency.load_report_interval",
          Forms.duration(Duration.ofMillis(100), Duration.ofSeconds(2)),
          DEFAULTS.loadReportInterval());
  static final Setting<Boolean> STEER =
      new Setting<>("concurrency.steer", Forms.flag(), DEFAULTS.steer());

  static final Setting<Integer> MAX_ENVOYS =
      new Setting<>("concurrency.max_envoys", Forms.count(1, 100_000), DEFAULTS.maxEnvoys());

  static final List<Setting<?>> ALL =
      List.of(
          ACCESS_LOG,
          MAX_SAMPLES_PER_SECOND,
          LOAD_REPORTS,
          LOAD_REPORT_INTERVAL,
          STEER,
          MAX_ENVOYS);

  private ConcurrencySettings() {}

  static ConcurrencyConfig assemble(SettingValues values) {
    return new ConcurrencyConfig(
        values.get(ACCESS_LOG),
        values.get(MAX_SAMPLES_PER_SECOND),
        values.get(LOAD_REPORTS),
        values.get(LOAD_REPORT_INTERVAL),
        values.get(STEER),
        values.get(MAX_ENVOYS));
  }
}
