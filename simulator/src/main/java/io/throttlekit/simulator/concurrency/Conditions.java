package io.throttlekit.simulator.concurrency;

/**
 * The influences on a run besides load, servers and service times.
 *
 * @param arrivals distribution of the gaps between requests
 * @param slowness changes of the service time
 * @param crowding requests in flight at which the service time has doubled, as in a backend that
 *     thrashes: it is multiplied by {@code 1 + (inFlight / crowding)²}; 0 for one that does not
 * @param wireMillis mean time of a response on the network, from 0; in it, the request is in flight
 *     and occupies no server
 * @param wire distribution of that time
 * @param stalls times at which all servers stand still
 * @param pauses times at which the limiter's process stands still: requests and responses wait for
 *     it
 * @param goodMillis latency up to which a response is good; 0 for five times the mean service time
 * @param timeoutMillis time after which a client gives up
 */
public record Conditions(
    Arrivals arrivals,
    Slowness slowness,
    double crowding,
    double wireMillis,
    Lengths wire,
    Interruptions stalls,
    Interruptions pauses,
    double goodMillis,
    long timeoutMillis) {
  private static final long TIMEOUT_MILLIS = 1_000;

  /** None. */
  static final Conditions NONE =
      new Conditions(
          Arrivals.INDEPENDENT,
          Slowness.NONE,
          0,
          0,
          Lengths.FIXED,
          Interruptions.NONE,
          Interruptions.NONE,
          0,
          TIMEOUT_MILLIS);

  Conditions arrivals(Arrivals to) {
    return new Conditions(
        to, slowness, crowding, wireMillis, wire, stalls, pauses, goodMillis, timeoutMillis);
  }

  Conditions slowness(Slowness to) {
    return new Conditions(
        arrivals, to, crowding, wireMillis, wire, stalls, pauses, goodMillis, timeoutMillis);
  }

  Conditions crowding(double to) {
    return new Conditions(
        arrivals, slowness, to, wireMillis, wire, stalls, pauses, goodMillis, timeoutMillis);
  }

  Conditions wire(double millis, Lengths to) {
    return new Conditions(
        arrivals, slowness, crowding, millis, to, stalls, pauses, goodMillis, timeoutMillis);
  }

  Conditions stalls(Interruptions to) {
    return new Conditions(
        arrivals, slowness, crowding, wireMillis, wire, to, pauses, goodMillis, timeoutMillis);
  }

  Conditions pauses(Interruptions to) {
    return new Conditions(
        arrivals, slowness, crowding, wireMillis, wire, stalls, to, goodMillis, timeoutMillis);
  }

  Conditions good(double millis) {
    return new Conditions(
        arrivals, slowness, crowding, wireMillis, wire, stalls, pauses, millis, timeoutMillis);
  }

  Conditions timeout(long millis) {
    return new Conditions(
        arrivals, slowness, crowding, wireMillis, wire, stalls, pauses, goodMillis, millis);
  }
}
