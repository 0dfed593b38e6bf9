package io.throttlekit.service.config;

import java.time.Duration;
import java.util.List;

/** Every field of the section {@code store}, in the order in which it is printed. */
final class StoreSettings {

  private static final StoreConfig DEFAULTS = StoreConfig.defaults();
  private static final Duration MILLISECOND = Duration.ofMillis(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);

  static final Setting<StoreUri> URI =
      new Setting<>("store.uri", Forms.storeUri(), StoreUri.memory());
  static final Setting<String> USER = new Setting<>("store.user", Forms.headerValue(), "");
  static final Setting<String> PASSWORD = new Setting<>("store.password", Forms.secret(), "");
  static final Setting<String> SENTINEL_USER =
      new Setting<>("store.sentinel_user", Forms.headerValue(), "");
  static final Setting<String> SENTINEL_PASSWORD =
      new Setting<>("store.sentinel_password", Forms.secret(), "");
  static final Setting<String> TLS_CA = new Setting<>("store.tls.ca", Forms.optionalPath(), "");
  static final Setting<String> TLS_CERTIFICATE =
      new Setting<>("store.tls.certificate", Forms.optionalPath(), "");
  static final Setting<String> TLS_KEY = new Setting<>("store.tls.key", Forms.optionalPath(), "");
  static final Setting<Boolean> TLS_VERIFY_HOST =
      new Setting<>("store.tls.verify_host", Forms.flag(), true);
  static final Setting<String> KEY_PREFIX =
      new Setting<>("store.key_prefix", Forms.keyPrefix(), DEFAULTS.keyPrefix());
  static final Setting<Long> MAX_COUNTERS =
      new Setting<>(
          "store.max_counters", Forms.longCount(1, 1_000_000_000), DEFAULTS.maxCounters());
  static final Setting<Duration> DEADLINE =
      new Setting<>(
          "store.deadline", Forms.duration(MILLISECOND, MINUTE), DEFAULTS.deadlines().call());
  static final Setting<Duration> DECISION_DEADLINE =
      new Setting<>(
          "store.decision_deadline",
          Forms.duration(MILLISECOND, MINUTE),
          DEFAULTS.deadlines().decision());
  static final Setting<Duration> LEASE_DEADLINE =
      new Setting<>(
          "store.lease_deadline",
          Forms.duration(MILLISECOND, MINUTE),
          DEFAULTS.deadlines().lease());
  static final Setting<Duration> CONNECT_TIMEOUT =
      new Setting<>(
          "store.connect_timeout",
          Forms.duration(MILLISECOND, MINUTE),
          DEFAULTS.deadlines().connect());
  static final Setting<Integer> BREAKER_FAILURES =
      new Setting<>(
          "store.breaker.failures", Forms.count(1, 1_000_000), DEFAULTS.breaker().failures());
  static final Setting<Duration> BREAKER_PROBE_AFTER =
      new Setting<>(
          "store.breaker.probe_after",
          Forms.duration(Duration.ofMillis(10), Duration.ofHours(1)),
          DEFAULTS.breaker().probeAfter());
  static final Setting<Integer> MAX_LEASE_CELLS =
      new Setting<>("store.max_lease_cells", Forms.count(1, 100_000_000), DEFAULTS.maxLeaseCells());
  static final Setting<Double> LOCAL_SHARE =
      new Setting<>("store.local_share", Forms.ratio(), DEFAULTS.localShare());
  static final Setting<Boolean> CACHED_DENY_DEFAULT =
      new Setting<>("store.cached_deny_default", Forms.flag(), DEFAULTS.cachedDenyDefault());

  static final List<Setting<?>> ALL =
      List.of(
          URI,
          USER,
          PASSWORD,
          SENTINEL_USER,
          SENTINEL_PASSWORD,
          TLS_CA,
          TLS_CERTIFICATE,
          TLS_KEY,
          TLS_VERIFY_HOST,
          KEY_PREFIX,
          MAX_COUNTERS,
          DEADLINE,
          DECISION_DEADLINE,
          LEASE_DEADLINE,
          CONNECT_TIMEOUT,
          BREAKER_FAILURES,
          BREAKER_PROBE_AFTER,
          MAX_LEASE_CELLS,
          LOCAL_SHARE,
          CACHED_DENY_DEFAULT);

  private StoreSettings() {}
}
