package io.throttlekit.redis;

import io.throttlekit.TimeSource;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * Reports the results of calls to circuit breakers and to the listener.
 *
 * <p>In a Cluster each node has its own breaker, so one unresponsive node does not affect calls to
 * the others. The Cluster counts as down when failures follow each other and no node has answered
 * for a while. Thread-safe.
 */
final class Health {
  /** The failure of a call that is not sent. */
  static final String BREAKER_OPEN = "circuit breaker open: Redis does not answer";

  private static final String LATE =
      "Redis did not answer in time; the request may have been counted";

  /** In a Cluster, the time without an answer of any node until the whole counts as down. */
  private static final long QUIET_MILLIS = TimeUnit.SECONDS.toMillis(3);

  private final RedisSettings settings;
  private final TimeSource time;
  final StoreListener listener;
  private final String leaseTime;
  private final String lateLease;
  private final CircuitBreaker whole;
  private final ConcurrentMap<String, CircuitBreaker> byNode = new ConcurrentHashMap<>();
  private volatile long answeredNanos;

  Health(RedisSettings settings, TimeSource time, StoreListener listener) {
    this.settings = settings;
    this.time = time;
    this.listener = listener;
    this.leaseTime = "within " + settings.leaseDeadlineMillis() + " ms";
    this.lateLease = "no answer " + leaseTime;
    CircuitBreaker.Settings each = settings.breaker();
    this.whole =
        new CircuitBreaker(
            time,
            settings.cluster()
                ? new CircuitBreaker.Settings(
                    each.failuresToOpen(),
                    // With few requests, those to one silent node may be the only ones for a while.
                    Math.max(QUIET_MILLIS, each.silenceMillis()),
                    each.probeEveryMillis())
                : each);
    // Without any answer yet, failures of the first node count for the whole at once.
    this.answeredNanos = time.monotonicNanos() - quietNanos();
  }

  /** Returns whether a call to a node may be sent; counts it as failed otherwise. */
  boolean allows(String node) {
    if (of(node).allows()) {
      return true;
    }
    listener.failed(1, Failure.OPEN, BREAKER_OPEN);
    return false;
  }

  /** Records an answered round trip, however late. */
  void answered(String node, int requests, long nanos) {
    listener.roundTrip(requests, nanos);
    if (settings.cluster()) {
      of(node).succeeded();
      answeredNanos = time.monotonicNanos();
    }
    answered();
  }

  /**
   * Records a working new connection; in a Cluster one node's connection proves nothing for others.
   */
  void connectionAnswered() {
    if (!settings.cluster()) {
      answered();
    }
  }

  private void answered() {
    if (whole.succeeded()) {
      listener.up();
    }
  }

  /**
   * Records requests without an answer.
   *
   * @param cause for an operator
   */
  void failed(int requests, Failure kind, String cause) {
    if (requests > 0) {
      listener.failed(requests, kind, cause);
    }
  }

  /** Returns the failure of a call whose deadline has passed. */
  StoreException late(Call<?> call) {
    return StoreException.late(call.hasLeaseDeadline ? LATE.replace("in time", leaseTime) : LATE);
  }

  /**
   * Records calls whose deadline has passed.
   *
   * @param calls without those that have the lease deadline
   */
  void late(int calls, int leases) {
    failed(calls, Failure.DEADLINE, "no answer in time");
    failed(leases, Failure.LEASE_DEADLINE, lateLease);
  }

  /** Records an error of a node or of its connection, once for all round trips in flight. */
  void refused(String node) {
    boolean opened = of(node).failed();
    if (settings.cluster()) {
      boolean othersAnswer = time.monotonicNanos() - answeredNanos < quietNanos();
      opened = !othersAnswer && whole.failed();
    }
    if (opened) {
      listener.down();
    }
  }

  /**
   * Records that a round trip has no answer yet; may be called repeatedly for it.
   *
   * @param sinceNanos when it was sent
   */
  void unanswered(String node, long sinceNanos) {
    boolean opened = of(node).unanswered(sinceNanos);
    if (settings.cluster()) {
      opened = whole.unanswered(sinceNanos);
    }
    if (opened) {
      listener.down();
    }
  }

  /** Forgets the circuit breaker of a node that has left the Cluster. */
  void forget(String node) {
    byNode.remove(node);
  }

  private static long quietNanos() {
    return TimeUnit.MILLISECONDS.toNanos(QUIET_MILLIS);
  }

  private CircuitBreaker of(String node) {
    if (!settings.cluster()) {
      return whole;
    }
    CircuitBreaker known = byNode.get(node);
    return known != null
        ? known
        : byNode.computeIfAbsent(node, _ -> new CircuitBreaker(time, settings.breaker()));
  }
}
