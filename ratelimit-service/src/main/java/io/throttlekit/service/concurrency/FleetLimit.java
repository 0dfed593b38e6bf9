package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.share.FleetFigures;

/**
 * A concurrency limit that replicas share, for display.
 *
 * @param rule that requested it last
 * @param key of the limit at the coordinator; contains values of requests
 * @param inFlight requests in flight at this process
 */
public record FleetLimit(Rule rule, String key, FleetFigures figures, int inFlight) {}
