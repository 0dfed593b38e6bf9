package io.throttlekit.redis;

import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;

/**
 * One lane's calls to one node: waiting calls and round trips in flight. Each node of a Cluster has
 * its own, so one unresponsive node does not delay calls to the others. Used on one event loop
 * only.
 */
final class Traffic {
  /** The most waiting calls that are searched for others of the same slot. */
  private static final int LOOK_AHEAD = 256;

  /** The most charges in a round trip: while a script runs, Redis serves no other client. */
  private static final int MAX_CHARGES = 4096;

  /** The name of the node. */
  final String node;

  /** The round trips in flight, in the order in which they were sent. */
  final Queue<Flight> flights = new ArrayDeque<>();

  private final Deque<Call<?>> waiting = new ArrayDeque<>();

  Traffic(String node) {
    this.node = node;
  }

  void add(Call<?> call) {
    waiting.add(call);
  }

  /** Returns whether there is neither a waiting call nor a round trip in flight. */
  boolean isIdle() {
    return waiting.isEmpty() && flights.isEmpty();
  }

  /** Fails the waiting calls and those in flight, whose round trips stay until they end. */
  void failAll(StoreException failure) {
    waiting.forEach(call -> call.fail(failure));
    waiting.clear();
    flights.forEach(flight -> flight.fail(failure));
  }

  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Removes calls whose deadline passed before they were sent. */
  void forgetAnswered() {
    waiting.removeIf(Traffic::isAnswered);
  }

  /** Returns whether a call is done; one that was never sent had no effect. */
  private static boolean isAnswered(Call<?> call) {
    boolean answered = call.answer.isDone();
    if (answered) {
      call.reply.completeExceptionally(StoreException.notSent("not sent in time"));
    }
    return answered;
  }

  /**
   * Takes the call that has waited longest with other calls of its slot; drops calls that are done.
   *
   * @param most the most calls to take
   */
  List<Call<?>> next(int most) {
    List<Call<?>> together = new ArrayList<>();
    int slot = waiting.getFirst().slot;
    int looked = 0;
    int charges = 0;
    for (Iterator<Call<?>> each = waiting.iterator();
        each.hasNext()
            && together.size() < most
            && charges < MAX_CHARGES
            && looked < LOOK_AHEAD; ) {
      Call<?> call = each.next();
      looked++;
      charges += call.weight();
      if (call.slot == slot) {
        each.remove();
        if (!isAnswered(call)) {
          together.add(call);
        }
      }
    }
    return together;
  }
}
