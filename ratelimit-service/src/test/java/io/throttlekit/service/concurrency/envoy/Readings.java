package io.throttlekit.service.concurrency.envoy;

import java.util.List;

/** Logs and reports of Envoys about the cluster {@code up}. */
final class Readings {
  static final Reading TIMED_OUT = of(Kind.TIMED_OUT, 0);
  static final Reading REFUSED = of(Kind.LIMIT_REACHED, 0);

  private Readings() {}

  static Reading answered(long nanos) {
    return of(Kind.ANSWERED, nanos);
  }

  static Reading answered(long nanos, String route) {
    return new Reading(Kind.ANSWERED, "up", nanos, List.of(), true, route, "127.0.0.1");
  }

  static Reading timedOut(String route) {
    return new Reading(Kind.TIMED_OUT, "up", 0, List.of(), true, route, "127.0.0.1");
  }

  static Reading of(Kind kind, long nanos) {
    return new Reading(kind, "up", nanos, List.of(), true, "", "");
  }

  static ClusterLoad load(long inProgress, long succeeded) {
    return new ClusterLoad("up", inProgress, succeeded, succeeded, 0, 0, 1_000_000_000L);
  }
}
