package io.throttlekit.service.policies;

import io.throttlekit.descriptors.LoadOptions;
import io.throttlekit.service.config.ServiceConfig;

/**
 * What this service can do that policies may ask for.
 *
 * @param federated whether there is a coordinator, without which no policy may share limits with
 *     other regions
 * @param readsAccessLogs whether access logs are taken, without which none may wait for them
 */
public record Abilities(boolean federated, boolean readsAccessLogs) {

  /** What a service so configured can do. */
  public static Abilities of(ServiceConfig config) {
    return new Abilities(config.federation() != null, config.concurrency().accessLog());
  }

  /** {@code options} without what this service cannot do. */
  LoadOptions restrict(LoadOptions options) {
    LoadOptions able = options.withoutSteering();
    able = federated ? able : able.withoutFederation();
    return readsAccessLogs ? able : able.withoutAccessLogs();
  }
}
