package io.throttlekit.service.config.load;

import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreAccess;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Settings of the section {@code federation}. */
final class FederationSettings extends Section {
  final Setting<String> region = setting("federation.region", Forms.region(), "");
  final Setting<Optional<StoreUri>> coordinator =
      setting("federation.coordinator", Forms.optional(Forms.storeUri()), Optional.empty());
  private final AccessSettings access = part(new AccessSettings("federation"));
  private final Setting<String> keyPrefix =
      setting("federation.key_prefix", Forms.keyPrefix(), "throttlekit:");
  private final Setting<Duration> deadline =
      duration(
          "federation.deadline",
          Duration.ofMillis(1),
          Duration.ofMinutes(1),
          Duration.ofSeconds(2));
  private final Setting<Duration> probeAfter =
      duration(
          "federation.probe_after",
          Duration.ofMillis(10),
          Duration.ofHours(1),
          Duration.ofSeconds(5));
  private final Setting<Integer> regionalLeases =
      count("federation.regional_leases", 1, 1_000_000, 2);

  /**
   * Returns the federation, or null when there is none; reports a region without coordinator, and
   * the reverse.
   */
  @Nullable FederationConfig assemble(SettingValues values) {
    String name = values.get(region);
    StoreUri uri = values.get(coordinator).orElse(null);
    StoreAccess login = access.assemble(values, uri == null ? StoreUri.memory() : uri);
    if (uri != null && !name.isEmpty()) {
      return new FederationConfig(
          name,
          uri.address(),
          login,
          values.get(keyPrefix),
          values.get(deadline),
          values.get(probeAfter),
          values.get(regionalLeases));
    }
    if (uri != null && !values.malformed(region)) {
      values.error(
          values.origin(coordinator),
          "a coordinator needs the name of the region: --region or federation.region");
    } else if (!name.isEmpty() && !values.malformed(coordinator)) {
      values.error(
          values.origin(region),
          "a region needs a coordinator to share limits with others: --coordinator or"
              + " federation.coordinator");
    }
    return null;
  }
}
