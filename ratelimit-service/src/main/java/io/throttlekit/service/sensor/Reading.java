package io.throttlekit.service.sensor;

import io.throttlekit.service.concurrency.Ending;
import java.util.List;

/**
 * What one entry of an access log says about one request. Nothing in it depends on the clock of the
 * host that wrote it.
 *
 * @param kind what became of it
 * @param cluster of Envoy that it was for; empty where it never had one
 * @param rttNanos how long the backend took, from the first byte that it was sent to the last that
 *     it sent; above 0 when the kind is a sample, else 0
 * @param leases that the request had, to be ended with it; at most two
 * @param marked whether an answer of the service left its mark: without one, a request that reached
 *     the backend may have been admitted without the service
 */
public record Reading(
    Kind kind, String cluster, long rttNanos, List<String> leases, boolean marked) {

  /** Keeps a copy of the leases. */
  public Reading {
    leases = List.copyOf(leases);
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
    return new Reading(Kind.CROWDED_OUT, cluster, 0, leases, marked);
  }
}
