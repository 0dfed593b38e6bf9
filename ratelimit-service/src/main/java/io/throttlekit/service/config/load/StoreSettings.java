package io.throttlekit.service.config.load;

import io.throttlekit.service.config.StoreConfig;
import java.time.Duration;

/** Settings of the section {@code store}. */
final class StoreSettings extends Section {
  private static final StoreConfig DEFAULTS = StoreConfig.defaults();
  private static final Duration MILLISECOND = Duration.ofMillis(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);

  final Setting<StoreUri> uri = setting("store.uri", Forms.storeUri(), StoreUri.memory());
  final AccessSettings access = part(new AccessSettings("store"));
  final Setting<String> keyPrefix =
      setting("store.key_prefix", Forms.keyPrefix(), DEFAULTS.keyPrefix());
  private final Setting<Long> maxCounters =
      setting("store.max_counters", Forms.longCount(1, 1_000_000_000), DEFAULTS.maxCounters());
  private final Setting<Duration> deadline =
      duration("store.deadline", MILLISECOND, MINUTE, DEFAULTS.deadlines().call());
  private final Setting<Duration> leaseDeadline =
      duration("store.lease_deadline", MILLISECOND, MINUTE, DEFAULTS.deadlines().lease());
  final Setting<Duration> connectTimeout =
      duration("store.connect_timeout", MILLISECOND, MINUTE, DEFAULTS.deadlines().connect());
  private final Setting<Integer> breakerFailures =
      count("store.breaker.failures", 1, 1_000_000, DEFAULTS.breaker().failures());
  private final Setting<Duration> breakerAfter =
      duration("store.breaker.after", Duration.ofMillis(10), MINUTE, DEFAULTS.breaker().after());
  private final Setting<Duration> breakerProbeAfter =
      duration(
          "store.breaker.probe_after",
          Duration.ofMillis(10),
          Duration.ofHours(1),
          DEFAULTS.breaker().probeAfter());
  private final Setting<Integer> maxLeaseCells =
      count("store.max_lease_cells", 1, 100_000_000, DEFAULTS.maxLeaseCells());
  private final Setting<Double> localShare =
      setting("store.local_share", Forms.ratio(), DEFAULTS.localShare());
  final Setting<Boolean> cachedDenyDefault =
      flag("store.cached_deny_default", DEFAULTS.cachedDenyDefault());

  /** Returns whether counters are in the memory of this process. */
  boolean inMemory(SettingValues values) {
    return values.get(uri).address().inMemory();
  }

  StoreConfig assemble(SettingValues values) {
    return new StoreConfig(
        values.get(uri).address(),
        access.assemble(values, values.get(uri)),
        values.get(keyPrefix),
        values.get(maxCounters),
        new StoreConfig.Deadlines(
            values.get(deadline), values.get(leaseDeadline), values.get(connectTimeout)),
        new StoreConfig.Breaker(
            values.get(breakerFailures), values.get(breakerAfter), values.get(breakerProbeAfter)),
        values.get(maxLeaseCells),
        values.get(localShare),
        values.get(cachedDenyDefault));
  }
}
