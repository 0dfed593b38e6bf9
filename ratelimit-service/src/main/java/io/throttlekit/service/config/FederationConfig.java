package io.throttlekit.service.config;

import java.time.Duration;

/**
 * Configuration of limits that this process shares with other regions.
 *
 * @param region name of this process's region: 1 to 64 letters, digits, {@code -}, {@code _} and
 *     {@code .}
 * @param coordinator address of the store from which regions lease shared limits; without passwords
 * @param access credentials and TLS for a coordinator outside of the process
 * @param keyPrefix prefix of every key there, the same in all regions
 * @param deadline timeout of a call to the coordinator
 * @param probeAfter time after which a failed coordinator is probed, for rules that continue in
 *     their region only
 * @param regionalLeases size of a lease from the coordinator, in leases of one process, from 1: the
 *     process takes one, and the rest waits in the regional store for its other processes
 */
public record FederationConfig(
    String region,
    StoreAddress coordinator,
    StoreAccess access,
    String keyPrefix,
    Duration deadline,
    Duration probeAfter,
    int regionalLeases) {}
