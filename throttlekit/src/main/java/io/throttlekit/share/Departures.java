package io.throttlekit.share;

import io.throttlekit.Scheduler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The departures of one node: of its current incarnation, and of those whose leases have ended and
 * whose requests the current one has. A call that fails is repeated a few times, because the
 * coordinator would keep the permits reserved until their time to live has ended. Thread-safe.
 */
final class Departures {
  /** The most calls for one departure. */
  static final int MAX_CALLS = 5;

  /** The most ended incarnations; more than one only if answers were lost. */
  private static final int MAX_ENDED = 8;

  private final ConcurrencyCoordinator coordinator;
  private final Scheduler timer;
  private final long retryNanos;
  private final MembershipListener listener;

  // Guarded by this.
  private final Deque<Departure> ended = new ArrayDeque<>();

  Departures(
      ConcurrencyCoordinator coordinator,
      Scheduler timer,
      long retryNanos,
      MembershipListener listener) {
    this.coordinator = coordinator;
    this.timer = timer;
    this.retryNanos = retryNanos;
    this.listener = listener;
  }

  /** Notes that the lease of an incarnation has ended; the next one has its requests. */
  synchronized void ended(Incarnation incarnation) {
    ended.addLast(incarnation.departure(0));
    if (ended.size() > MAX_ENDED) {
      ended.removeFirst();
    }
  }

  /** Releases ended incarnations, because a later one is a member and reports the requests. */
  void release(List<Departure> departures) {
    departures.forEach(departure -> send(departure, MAX_CALLS));
  }

  /** Sends the departure of the current incarnation. */
  void leave(Departure departure) {
    // It may be no member: then its requests are reserved for an ended one.
    for (Departure each : take()) {
      send(
          new Departure(each.key(), each.node(), each.incarnation(), departure.inFlight()),
          MAX_CALLS);
    }
    send(departure, MAX_CALLS);
  }

  /** Returns the ended incarnations, and forgets them. */
  synchronized List<Departure> take() {
    if (ended.isEmpty()) {
      return List.of();
    }
    List<Departure> all = new ArrayList<>(ended);
    ended.clear();
    return all;
  }

  private void send(Departure departure, int calls) {
    CompletionStage<Void> answer;
    try {
      answer = coordinator.leave(departure);
    } catch (RuntimeException bug) { // what is reserved ends by itself
      listener.failed(bug);
      return;
    }
    var _ =
        answer.exceptionally(_ -> {
          if (calls > 1) {
            timer.runAfter(retryNanos, () -> send(departure, calls - 1));
          }
          return null;
        });
  }
}
