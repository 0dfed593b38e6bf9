package io.throttlekit.redis;

import io.throttlekit.TimeSource;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * Notifies circuit breakers and the listener of how calls went.
 *
 * <p>Each node of a Cluster has a breaker of its own, so that one which does not answer keeps
 * nobody from the others. The whole is down when failures follow each other and no node has
 * answered for a while. Thread-safe.
 */
final class Health {
  /** Why a call is not sent. */
  static final String NOT_ASKED = "Redis does not answer, so it is not asked";

  private static final long QUIET_MILLIS = TimeUnit.SECONDS.toMillis(3);

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
    CircuitBreaker.Settings each = settings.breaker();
    this.whole =
        new CircuitBreaker(
            time,
            settings.cluster()
                ? new CircuitBreaker.Settings(
                    each.failuresToOpen(),
                    Math.max(QUIET_MILLIS, each.silenceMillis()),
                    each.probeEveryMillis())
                : each);
    this.answeredNanos = time.monotonicNanos() - quietNanos();
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

  /** A round trip was answered, however late. */
  void answered(String node, int requests, long nanos) {
    listener.roundTrip(requests, nanos);
    if (settings.cluster()) {
      of(node).succeeded();
      answeredNanos = time.monotonicNanos();
    }
    answered();
  }

  /** A new connection works; of a Cluster, that of one node is nothing to the others. */
  void greeted() {
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
   * Requests got no answer.
   *
   * @param inWords what happened, for an operator
   */
  void failed(int requests, Failure why, String inWords) {
    if (requests > 0) {
      listener.failed(requests, why, inWords);
    }
  }

  /** A node, or the way to it, refused a round trip, which counts once for all requests in it. */
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
   * A round trip is without an answer; may be reported again and again.
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
