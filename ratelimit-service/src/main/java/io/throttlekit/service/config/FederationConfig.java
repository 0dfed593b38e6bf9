package io.throttlekit.service.config;

import java.time.Duration;

/**
 * How this process shares limits with other regions.
 *
 * @param region the name of the region that it belongs to: 1 to 64 letters, digits, {@code -},
 *     {@code _} and {@code .}
 * @param coordinator where regions lease what they share; without passwords
 * @param access how a coordinator outside the process is entered
 * @param keyPrefix what the name of every key there begins with, the same in all regions
 * @param deadline what a call to the coordinator may take
 * @param probeAfter time after which a coordinator that fails is asked whether it is back, for
 *     rules that go on in their region only
 * @param regionalLeases how many leases of one process are asked of the coordinator at once, from
 *     1; all but one wait in the regional store for its other processes
 */
public record FederationConfig(
    String region,
    StoreAddress coordinator,
    StoreAccess access,
    String keyPrefix,
    Duration deadline,
    Duration probeAfter,
    int regionalLeases) {}
