package io.throttlekit.redis;

import io.lettuce.core.ScriptOutputType;
import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Queue;

/**
 * One run of a script in Redis, for one call or several.
 *
 * @param <C> the calls
 * @param <R> the reply of the script
 */
abstract class RoundTrip<C extends Call<?>, R> {
  /** The calls; must not be modified. */
  final List<C> calls;

  final Script script;

  /** The keys: first the epoch's, in a Cluster last the history's; must not be modified. */
  final byte[][] keys;

  /** The arguments: first the epoch that this process knows; must not be modified. */
  final byte[][] arguments;

  /** The type of the reply: {@code VALUE} if R is bytes, {@code MULTI} if it is a list. */
  final ScriptOutputType type;

  /** When it was sent, by the monotonic clock. */
  final long sentNanos;

  /** Decides which calls share a round trip. Used on several event loops. */
  interface Batching<C extends Call<?>> {
    /** Returns all scripts, which are loaded over each new connection. */
    List<Script> scripts();

    /** Returns the most round trips in flight to one node. */
    int maxInFlight();

    /**
     * Removes the calls of the next round trip from {@code waiting}, which is not empty. Drops
     * expired calls, and may return an empty list after that.
     */
    List<C> next(Deque<C> waiting);

    /** Creates a round trip of these calls, at least one. */
    RoundTrip<C, ?> roundTrip(List<C> calls, long nowNanos);
  }

  RoundTrip(
      List<C> calls,
      Script script,
      byte[][] keys,
      byte[][] arguments,
      ScriptOutputType type,
      long nowNanos) {
    this.calls = calls;
    this.script = script;
    this.keys = keys;
    this.arguments = arguments;
    this.type = type;
    this.sentNanos = nowNanos;
  }

  /** Completes all calls from the reply, after recording its epoch. */
  abstract void complete(R reply);

  /** Fails the unanswered calls; returns their number. */
  final int fail(StoreException failure) {
    int failed = 0;
    for (int i = 0; i < calls.size(); i++) {
      failed += calls.get(i).fail(failure) ? 1 : 0;
    }
    return failed;
  }

  /**
   * The calls of a lane to one node: waiting ones, and round trips in flight in the order of
   * sending. Used on the event loop of the lane.
   */
  static final class Traffic<C extends Call<?>> {
    final String node;
    final Deque<C> waiting = new ArrayDeque<>();
    final Queue<RoundTrip<C, ?>> trips = new ArrayDeque<>();

    /** When a failure was last counted, by the monotonic clock; at first before the first trip. */
    long refusedNanos;

    Traffic(String node, long nowNanos) {
      this.node = node;
      this.refusedNanos = nowNanos - 1;
    }

    boolean isIdle() {
      return waiting.isEmpty() && trips.isEmpty();
    }
  }
}
