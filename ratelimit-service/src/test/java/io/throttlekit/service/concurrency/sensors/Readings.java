package io.throttlekit.service.concurrency.sensors;

import java.util.List;

/** Logs and reports of Envoys about the cluster {@code up}. */
public final class Readings {
  public static final Reading TIMED_OUT = of(Kind.TIMED_OUT, 0);
  public static final Reading REFUSED = of(Kind.LIMIT_REACHED, 0);

  private Readings() {}

  public static Reading answered(long nanos) {
    return of(Kind.ANSWERED, nanos);
  }

  public static Reading answered(long nanos, String route) {
    return new Reading(Kind.ANSWERED, "up", nanos, List.of(), true, route, "127.0.0.1");
  }

  public static Reading timedOut(String route) {
    return new Reading(Kind.TIMED_OUT, "up", 0, List.of(), true, route, "127.0.0.1");
  }

  public static Reading of(Kind kind, long nanos) {
    return new Reading(kind, "up", nanos, List.of(), true, "", "");
  }

  public static ClusterLoad load(long inProgress, long succeeded) {
    return new ClusterLoad("up", inProgress, succeeded, succeeded, 0, 0, 1_000_000_000L);
  }
}
