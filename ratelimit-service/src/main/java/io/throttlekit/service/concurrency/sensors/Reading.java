package io.throttlekit.service.concurrency.sensors;

import io.throttlekit.service.concurrency.Ending;
import java.util.List;

/**
 * The facts of one access log entry about one request. None depends on the clock of the host that
 * wrote it.
 *
 * @param kind outcome of the request
 * @param cluster of Envoy that the request was for; empty where it never had one
 * @param rttNanos response time of the backend, from the last byte sent to it to the last byte
 *     received, without the time of a slow client; above 0 when the kind is a sample, 0 when it was
 *     not measured
 * @param permits ids of the permits that the request held and that end with it; at most two
 * @param marked whether an answer of this service left its mark; without one, a request that
 *     reached the backend may have been admitted without this service
 * @param route name of Envoy's route, or the first segment of the path where it has none; may be
 *     empty
 * @param client address of the client without its port; may be empty
 */
public record Reading(
    Kind kind,
    String cluster,
    long rttNanos,
    List<String> permits,
    boolean marked,
    String route,
    String client) {

  /** Copies the ids. */
  public Reading {
    permits = List.copyOf(permits);
  }

  /** Returns the measurement that the limit algorithm receives when the request ends. */
  public Ending ending() {
    return kind.isSample()
        ? new Ending.Measured(rttNanos)
        : kind.isDrop() ? Ending.Plain.TIMED_OUT : Ending.Plain.UNKNOWN;
  }

  /**
   * Returns whether a duplicate of this reading would distort a concurrency limit or its metrics.
   */
  public boolean counts() {
    return kind.isSample() || kind.isError() || kind == Kind.LIMIT_REACHED || !permits.isEmpty();
  }

  /** Returns this end of a request as no sample. Its latency shows when it was in flight. */
  public Reading crowdedOut() {
    return new Reading(Kind.CROWDED_OUT, cluster, rttNanos, permits, marked, route, client);
  }
}
