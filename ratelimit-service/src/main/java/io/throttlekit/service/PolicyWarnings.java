package io.throttlekit.service;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.ServiceConfig;
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
    if (config.compatibility().shadowMode()) {
      reportUnsteered(book);
    }
  }

  private static void reportUnsteered(PolicyBook book) {
    Set<String> clusters = new LinkedHashSet<>();
    for (Rule rule : book.rules()) {
      var terms = rule.concurrency();
      if (terms != null && terms.gate() instanceof AtEnvoys at) {
        clusters.add(at.cluster());
      }
    }
    clusters.forEach(cluster ->
        LOG.info(
            "cluster {} is not controlled by this process (compatibility.shadow_mode: true)",
            cluster));
  }
}
