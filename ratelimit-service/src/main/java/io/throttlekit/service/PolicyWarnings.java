package io.throttlekit.service;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.envoy.filter.FilterText;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.ServiceConfig;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs conflicts between policies and configuration, each of which is valid by itself. */
final class PolicyWarnings {
  private static final Logger LOG = LoggerFactory.getLogger(PolicyWarnings.class);

  private PolicyWarnings() {}

  /** Logs the conflicts of policies that have just taken effect. */
  static void log(ServiceConfig config, PolicyBook book) {
    ExtAuthzConfig authz = config.extAuthz();
    if (authz != null && !authz.domain().isEmpty() && book.domain(authz.domain()) == null) {
      LOG.warn(
          "no policy has the domain `{}`{}: ext_authz.domain names it, and Checks fail",
          authz.domain(),
          Wording.hint(authz.domain(), book.domains()));
    }
    Set<String> clusters = steered(book);
    if (config.compatibility().shadowMode()) {
      clusters.forEach(cluster ->
          LOG.info(
              "cluster {} is not controlled by this process (compatibility.shadow_mode: true)",
              cluster));
    }
    Duration permitted = config.grpc().keepAlive().permitted();
    if (!clusters.isEmpty() && permitted.compareTo(FilterText.PING_INTERVAL) > 0) {
      LOG.warn(
          "grpc.permit_keep_alive_time is above {} s, the interval at which Envoys should ping with"
              + " gate: envoy (docs/CONCURRENCY-LIMITS.md): they are disconnected again and again",
          FilterText.PING_INTERVAL.toSeconds());
    }
  }

  private static Set<String> steered(PolicyBook book) {
    Set<String> clusters = new LinkedHashSet<>();
    for (Rule rule : book.rules()) {
      var terms = rule.concurrency();
      if (terms != null && terms.gate() instanceof AtEnvoys at) {
        clusters.add(at.cluster());
      }
    }
    return clusters;
  }
}
