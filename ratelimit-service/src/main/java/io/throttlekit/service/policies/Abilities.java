package io.throttlekit.service.policies;

import io.throttlekit.descriptors.LoadOptions;
import io.throttlekit.service.config.ConcurrencyConfig;
import io.throttlekit.service.config.ServiceConfig;

/**
 * What this service can do that policies may ask for.
 *
 * @param federated whether there is a coordinator, without which no policy may share limits with
 *     other regions
 * @param learns whether a ceiling that this process steers would move: it learns from access logs
 * @param readsAccessLogs whether access logs are taken, without which none may wait for them
 */
public record Abilities(boolean federated, boolean learns, boolean readsAccessLogs) {

  /** What a service so configured can do. */
  public static Abilities of(ServiceConfig config) {
    ConcurrencyConfig concurrency = config.concurrency();
    return new Abilities(
        config.federation() != null,
        concurrency.accessLog() || !concurrency.steer(),
        concurrency.accessLog());
  }

  /** {@code options} without what this service cannot do. */
  LoadOptions restrict(LoadOptions options) {
    LoadOptions able = federated ? options : options.withoutFederation();
    able = learns ? able : able.withoutSteering();
    return readsAccessLogs ? able : able.withoutAccessLogs();
  }
}
