package io.throttlekit.service.policies;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.service.config.ConcurrencyConfig;
import io.throttlekit.service.config.ServiceConfig;

/**
 * Features of this service that policies depend on.
 *
 * @param federated whether there is a coordinator, without which policies cannot share limits with
 *     other regions
 * @param learns whether limits that this process pushes to Envoys would move, which needs access
 *     logs
 * @param readsAccessLogs whether access logs are accepted, so that permits may be released by them
 */
public record Abilities(boolean federated, boolean learns, boolean readsAccessLogs) {

  /** Returns the features of a service with this configuration. */
  public static Abilities of(ServiceConfig config) {
    ConcurrencyConfig concurrency = config.concurrency();
    return new Abilities(
        config.federation() != null,
        concurrency.accessLog() || !concurrency.steer(),
        concurrency.accessLog());
  }

  /** Returns {@code options} without features that this service does not have. */
  LoadOptions restrict(LoadOptions options) {
    return new LoadOptions(
        options.mergeDomains(), options.mergeSwitch(), federated, learns, readsAccessLogs);
  }
}
