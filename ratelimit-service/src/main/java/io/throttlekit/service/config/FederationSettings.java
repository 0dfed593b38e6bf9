package io.throttlekit.service.config;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the section {@code federation}, in the order in which they are printed, and their
 * assembly.
 */
final class FederationSettings {

  static final Setting<String> REGION = new Setting<>("federation.region", Forms.region(), "");
  static final Setting<Optional<StoreUri>> COORDINATOR =
      new Setting<>("federation.coordinator", Forms.optional(Forms.storeUri()), Optional.empty());
  static final AccessSettings ACCESS = AccessSettings.of("federation");
  static final Setting<String> KEY_PREFIX =
      new Setting<>("federation.key_prefix", Forms.keyPrefix(), "throttlekit:");
  static final Setting<Duration> DEADLINE =
      new Setting<>(
          "federation.deadline",
          Forms.duration(Duration.ofMillis(1), Duration.ofMinutes(1)),
          Duration.ofSeconds(2));
  static final Setting<Duration> PROBE_AFTER =
      new Setting<>(
          "federation.probe_after",
          Forms.duration(Duration.ofMillis(10), Duration.ofHours(1)),
          Duration.ofSeconds(5));
  static final Setting<Integer> REGIONAL_LEASES =
      new Setting<>("federation.regional_leases", Forms.count(1, 1_000_000), 2);

  static final List<Setting<?>> ALL =
      Stream.of(
              List.of(REGION, COORDINATOR),
              ACCESS.all(),
              List.of(KEY_PREFIX, DEADLINE, PROBE_AFTER, REGIONAL_LEASES))
          .<Setting<?>>flatMap(List::stream)
          .toList();

  private FederationSettings() {}

  /**
   * Returns the federation, or null when there is none; reports a region without coordinator, and
   * the reverse.
   */
  static @Nullable FederationConfig assemble(SettingValues values) {
    String region = values.get(REGION);
    StoreUri coordinator = values.get(COORDINATOR).orElse(null);
    StoreUri entered = coordinator == null ? StoreUri.memory() : coordinator;
    StoreAccess access = new AccessAssembly(values, ACCESS, entered).assemble();
    if (region.isEmpty() == (coordinator == null)) {
      return coordinator == null
          ? null
          : new FederationConfig(
              region,
              coordinator.address(),
              access,
              values.get(KEY_PREFIX),
              values.get(DEADLINE),
              values.get(PROBE_AFTER),
              values.get(REGIONAL_LEASES));
    }
    if (region.isEmpty() && !values.malformed(REGION)) {
      values.error(
          values.origin(COORDINATOR),
          "a coordinator needs the name of the region: --region or federation.region");
    } else if (!region.isEmpty() && !values.malformed(COORDINATOR)) {
      values.error(
          values.origin(REGION),
          "a region needs a coordinator to share limits with others: --coordinator or"
              + " federation.coordinator");
    }
    return null;
  }
}
