package io.throttlekit.service.store;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.policy.Scope;
import io.throttlekit.service.store.BackendState.Role;
import io.throttlekit.store.Persistence;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns about settings of a backend by which it may lose what a loaded rule relies on; names the
 * rule, the setting and the fix. Each warning is logged once. Thread-safe.
 */
final class PersistenceRemarks {
  private static final Logger LOG = LoggerFactory.getLogger(PersistenceRemarks.class);

  /** Maximum of rules in one warning, which keeps the line readable. */
  private static final int MAX_NAMED_RULES = 5;

  private final Role role;
  private final String address;
  private final Map<Cause, String> logged = new EnumMap<>(Cause.class);
  private @Nullable Persistence persistence;
  private @Nullable PolicyBook book;

  PersistenceRemarks(Role role, String address) {
    this.role = role;
    this.address = address;
  }

  /** Notes the backend's settings. */
  synchronized void found(Persistence found) {
    persistence = found;
    warn();
  }

  /** Notes the loaded policies. */
  synchronized void loaded(PolicyBook loaded) {
    book = loaded;
    warn();
  }

  private void warn() {
    // Settings and policies come in either order; the later one warns.
    if (persistence == null || book == null) {
      return;
    }
    for (Gap gap : persistence.gaps()) {
      List<Rule> concerned = book.rules().stream().filter(rule -> relies(rule, gap)).toList();
      if (concerned.isEmpty()) {
        continue;
      }
      String text = text(gap, concerned);
      if (!text.equals(logged.put(gap.cause(), text))) {
        LOG.warn("{}", text);
      }
    }
  }

  private boolean relies(Rule rule, Gap gap) {
    return role.counts().test(rule)
        && !rule.limits().isEmpty()
        && switch (gap.cause()) {
          case EVICTION, UNNOTICED -> true;
          case RESTART, FAILOVER ->
              rule.scope() == Scope.GLOBAL || rule.onDataLoss() == DataLoss.DENY;
        };
  }

  private String text(Gap gap, List<Rule> rules) {
    String what =
        switch (gap.cause()) {
          case RESTART -> "may have lost counts when it restarts";
          case FAILOVER -> "may have lost counts when a replica takes over";
          case EVICTION -> "may evict counters when its memory is full, and they start again";
          case UNNOTICED -> "may come back with older counts that are not noticed";
        };
    String then =
        gap.cause() == Cause.RESTART || gap.cause() == Cause.FAILOVER
            ? "; on_data_loss then decides for "
            : "; this concerns ";
    return "the %s %s %s (%s)%s%s: %s"
        .formatted(role.name(), address, what, gap.found(), then, names(rules), gap.remedy());
  }

  private static String names(List<Rule> rules) {
    List<String> names =
        rules.stream()
            .limit(MAX_NAMED_RULES)
            .map(rule -> "domain %s, rule %s".formatted(rule.domain(), rule.path()))
            .toList();
    int more = rules.size() - names.size();
    return String.join("; ", names) + (more > 0 ? "; and %d more".formatted(more) : "");
  }
}
