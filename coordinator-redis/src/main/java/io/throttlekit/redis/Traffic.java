package io.throttlekit.redis;

import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;

/**
 * What one lane has to do with one Redis: calls that wait, and round trips under way. Those of a
 * Cluster have one each, so that who waits for one that hangs keeps nobody from the others. Used on
 * one event loop only.
 */
final class Traffic {
  private static final int LOOK_AHEAD = 256;

  /** What a round trip decides takes the time of everybody's requests to that Redis. */
  private static final int MAX_CHARGES = 4096;

  /** The name of that Redis. */
  final String node;

  /** In the order in which they were sent. */
  final Queue<Flight> flights = new ArrayDeque<>();

  private final Deque<Call<?>> waiting = new ArrayDeque<>();

  Traffic(String node) {
    this.node = node;
  }

  void add(Call<?> call) {
    waiting.add(call);
  }

  /** Whether there is nothing to do. */
  boolean isIdle() {
    return waiting.isEmpty() && flights.isEmpty();
  }

  /** Fails the calls that wait and those under way, whose round trips stay until they end. */
  void failAll(StoreException failure) {
    waiting.forEach(call -> call.fail(failure));
    waiting.clear();
    flights.forEach(flight -> flight.fail(failure));
  }

  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Forgets calls whose time was up before they were sent. */
  void forgetAnswered() {
    waiting.removeIf(Traffic::isAnswered);
  }

  /** A call that is not sent any more is known to have had no effect. */
  private static boolean isAnswered(Call<?> call) {
    boolean answered = call.answer.isDone();
    if (answered) {
      call.reply.completeExceptionally(StoreException.notSent("not sent in time"));
    }
    return answered;
  }

  /**
   * Takes the call that waited longest, and others of its slot, but those that nobody waits for.
   *
   * @param most how many at most
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
