package io.throttlekit.service.config;

/** Assembles the configuration of the store from single values. */
final class StoreAssembly {

  private StoreAssembly() {}

  static StoreConfig assemble(SettingValues values) {
    StoreUri uri = values.get(StoreSettings.URI);
    return new StoreConfig(
        uri.address(),
        new AccessAssembly(values, StoreSettings.ACCESS, uri).assemble(),
        values.get(StoreSettings.KEY_PREFIX),
        values.get(StoreSettings.MAX_COUNTERS),
        new StoreConfig.Deadlines(
            values.get(StoreSettings.DEADLINE),
            values.get(StoreSettings.LEASE_DEADLINE),
            values.get(StoreSettings.CONNECT_TIMEOUT)),
        new StoreConfig.Breaker(
            values.get(StoreSettings.BREAKER_FAILURES),
            values.get(StoreSettings.BREAKER_AFTER),
            values.get(StoreSettings.BREAKER_PROBE_AFTER)),
        values.get(StoreSettings.MAX_LEASE_CELLS),
        values.get(StoreSettings.LOCAL_SHARE),
        values.get(StoreSettings.CACHED_DENY_DEFAULT));
  }
}
