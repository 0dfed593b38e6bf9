package io.throttlekit.redis;

import io.throttlekit.TimeSource;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * Tells circuit breakers and the listener how calls went.
 *
 * <p>Each node of a Cluster has a breaker of its own, so that one which does not answer keeps
 * nobody from the others. The whole is down when failures follow each other and no node has
 * answered for a while. Thread-safe.
 */
final class Health {
  /** Why a call is not sent. */
  static final String NOT_ASKED = "Redis does not answer, so it is not asked";

  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final RedisSettings settings;
  private final TimeSource time;
  private final StoreListener listener;
  private final CircuitBreaker whole;
  private final ConcurrentMap<String, CircuitBreaker> byNode = new ConcurrentHashMap<>();
  private volatile long answeredNanos;

  Health(RedisSettings settings, TimeSource time, StoreListener listener) {
    this.settings = settings;
    this.time = time;
    this.listener = listener;
    this.whole = breaker();
    this.answeredNanos = time.monotonicNanos() - QUIET_NANOS;
  }

  /** Whether a call to a node may be sent; it is counted as failed when not. */
  boolean allows(String node) {
    if (of(node).allows()) {
      return true;
    }
    listener.failed(1, Failure.OPEN, NOT_ASKED);
    return false;
  }

  void connected() {
    listener.connected();
  }

  void notConnected(String whyInWords) {
    listener.notConnected(whyInWords);
  }

  boolean isUp() {
    return !whole.isOpen();
  }

  /**
   * A round trip was answered.
   *
   * @param inTime whether nobody had given up waiting for it
   */
  void answered(String node, int requests, long nanos, boolean inTime) {
    listener.roundTrip(requests, nanos);
    if (inTime) {
      of(node).succeeded();
      if (settings.cluster()) {
        answeredNanos = time.monotonicNanos();
      }
      if (whole.succeeded()) {
        listener.up();
      }
    }
  }

  /**
   * Requests got no answer.
   *
   * @param inWords what happened, for an operator
   */
  void failed(int requests, Failure why, String inWords) {
    if (requests > 0) {
      listener.failed(requests, why, inWords);
    }
  }

  /** A node did not answer, which counts once for all requests that waited for it. */
  void noAnswer(String node) {
    of(node).failed();
    boolean othersAnswer =
        settings.cluster() && time.monotonicNanos() - answeredNanos < QUIET_NANOS;
    if (!othersAnswer && whole.failed()) {
      listener.down();
    }
  }

  private CircuitBreaker of(String node) {
    CircuitBreaker known = byNode.get(node);
    return known != null ? known : byNode.computeIfAbsent(node, _ -> breaker());
  }

  private CircuitBreaker breaker() {
    return new CircuitBreaker(time, settings.failuresToOpen(), settings.probeEveryMillis());
  }
}
