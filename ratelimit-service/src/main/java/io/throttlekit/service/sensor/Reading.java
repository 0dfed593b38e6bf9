package io.throttlekit.service.sensor;

import io.throttlekit.service.concurrency.Ending;
import java.util.List;

/**
 * What one entry of an access log says about one request. Nothing in it depends on the clock of the
 * host that wrote it.
 *
 * @param kind what became of it
 * @param cluster of Envoy that it was for; empty where it never had one
 * @param rttNanos how long the backend took, from the last byte that it was sent to the last that
 *     it sent, without what a slow client took; above 0 when the kind is a sample, else 0
 * @param leases that the request had, to be ended with it; at most two
 * @param marked whether an answer of the service left its mark: without one, a request that reached
 *     the backend may have been admitted without the service
 * @param route the name of Envoy's route, or the first segment of the path where it has none; may
 *     be empty
 * @param client the address of the client without its port; may be empty
 */
public record Reading(
    Kind kind,
    String cluster,
    long rttNanos,
    List<String> leases,
    boolean marked,
    String route,
    String client) {

  /** Keeps a copy of the leases. */
  public Reading {
    leases = List.copyOf(leases);
  }

  /** A reading of an entry that names neither a route nor a client. */
  public Reading(Kind kind, String cluster, long rttNanos, List<String> leases, boolean marked) {
    this(kind, cluster, rttNanos, leases, marked, "", "");
  }

  /** What its end says to the law of a ceiling. */
  public Ending ending() {
    return kind.isSample()
        ? new Ending.Measured(rttNanos)
        : kind.isDrop() ? Ending.Plain.GIVEN_UP : Ending.Plain.UNTOLD;
  }

  /** Whether a ceiling would learn from it twice if it came twice. */
  public boolean counts() {
    return kind.isSample() || kind.isError() || kind == Kind.CEILING_REACHED || !leases.isEmpty();
  }

  /** The same end of a request, from which nobody learns. */
  public Reading crowdedOut() {
    return new Reading(Kind.CROWDED_OUT, cluster, 0, leases, marked, route, client);
  }
}
