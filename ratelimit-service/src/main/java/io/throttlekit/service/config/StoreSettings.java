package io.throttlekit.service.config;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Settings of the section {@code store}, in the order in which they are printed. */
final class StoreSettings {

  private static final StoreConfig DEFAULTS = StoreConfig.defaults();
  private static final Duration MILLISECOND = Duration.ofMillis(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);

  static final Setting<StoreUri> URI =
      new Setting<>("store.uri", Forms.storeUri(), StoreUri.memory());
  static final AccessSettings ACCESS = AccessSettings.of("store");
  static final Setting<String> KEY_PREFIX =
      new Setting<>("store.key_prefix", Forms.keyPrefix(), DEFAULTS.keyPrefix());
  static final Setting<Long> MAX_COUNTERS =
      new Setting<>(
          "store.max_counters", Forms.longCount(1, 1_000_000_000), DEFAULTS.maxCounters());
  static final Setting<Duration> DEADLINE =
      new Setting<>(
          "store.deadline", Forms.duration(MILLISECOND, MINUTE), DEFAULTS.deadlines().call());
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
  static final Setting<Duration> BREAKER_AFTER =
      new Setting<>(
          "store.breaker.after",
          Forms.duration(Duration.ofMillis(10), MINUTE),
          DEFAULTS.breaker().after());
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
      Stream.of(
              List.of(URI),
              ACCESS.all(),
              List.of(
                  KEY_PREFIX,
                  MAX_COUNTERS,
                  DEADLINE,
                  LEASE_DEADLINE,
                  CONNECT_TIMEOUT,
                  BREAKER_FAILURES,
                  BREAKER_AFTER,
                  BREAKER_PROBE_AFTER,
                  MAX_LEASE_CELLS,
                  LOCAL_SHARE,
                  CACHED_DENY_DEFAULT))
          .<Setting<?>>flatMap(List::stream)
          .toList();

  private StoreSettings() {}
}
