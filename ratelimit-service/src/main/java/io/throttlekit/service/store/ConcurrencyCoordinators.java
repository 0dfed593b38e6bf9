package io.throttlekit.service.store;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtService;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The coordinators of concurrency limits: one, with connections of its own, for each way of
 * coordination that a rule has. Thread-safe.
 */
final class ConcurrencyCoordinators {
  private final Function<Coordination, Backend<ConcurrencyCoordinator>> connect;
  private final Map<Coordination, Backend<ConcurrencyCoordinator>> connected =
      new ConcurrentHashMap<>();

  /**
   * @param connect connects a coordinator in the background
   */
  ConcurrencyCoordinators(Function<Coordination, Backend<ConcurrencyCoordinator>> connect) {
    this.connect = connect;
  }

  ConcurrencyCoordinator of(Coordination coordination) {
    return connected.computeIfAbsent(coordination, connect).api();
  }

  /** Connects for the rules of these policies, so that no request waits for a connection. */
  void policiesLoaded(PolicyBook book) {
    book.rules()
        .forEach(rule -> {
          var terms = rule.concurrency();
          if (terms != null && terms.gate() instanceof AtService service) {
            var _ = of(service.fleet().coordination());
          }
        });
  }

  /** Returns the coordinators that were connected. */
  List<Backend<ConcurrencyCoordinator>> backends() {
    return List.copyOf(connected.values());
  }
}
