package io.throttlekit.share;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * An exchange in the memory of one process: the reference implementation. Answers before its method
 * returns. Thread-safe.
 */
public final class InMemoryReleaseExchange implements ReleaseExchange {
  private final TimeSource time;
  private final Map<String, Queue> queues = new HashMap<>();
  private long number;
  private boolean closed;

  /** A release that waits. */
  private record Waiting(long number, long keptUntilMillis, String text) {}

  /** The queue of a known process. */
  private static final class Queue {
    final Deque<Waiting> waiting = new ArrayDeque<>();
    long keptUntilMillis;

    /** Number of the last release that a call has returned. */
    long returned;
  }

  /** Creates an exchange without processes, whose times follow the monotonic clock. */
  public InMemoryReleaseExchange(TimeSource time) {
    this.time = time;
  }

  @Override
  public synchronized CompletionStage<Delivery> exchange(
      String address, long receipt, List<Release> outgoing) {
    ReleaseExchange.requireValid(address, outgoing);
    if (closed) {
      return CompletableFuture.failedStage(StoreException.notSent("the exchange is closed"));
    }
    long now = TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos());
    queues.values().removeIf(queue -> queue.keptUntilMillis < now);
    Queue own = queues.computeIfAbsent(address, _ -> new Queue());
    own.keptUntilMillis = now + KEPT_MILLIS;
    acknowledge(own.waiting, receipt);
    while (!own.waiting.isEmpty() && own.waiting.getFirst().keptUntilMillis() < now) {
      own.waiting.removeFirst();
    }
    List<Waiting> delivered = own.waiting.stream().limit(MAX_BATCH).toList();
    long unknown = 0;
    long dropped = 0;
    for (Release release : outgoing) {
      Queue queue = queues.get(release.address());
      if (queue == null) {
        unknown++;
        continue;
      }
      queue.waiting.addLast(new Waiting(++number, now + KEPT_MILLIS, release.text()));
      if (queue.waiting.size() > MAX_QUEUE) {
        queue.waiting.removeFirst();
        dropped++;
      }
    }
    List<String> texts = new ArrayList<>();
    delivered.forEach(each -> texts.add(each.text()));
    long next = delivered.isEmpty() ? Delivery.NO_RECEIPT : delivered.getLast().number();
    own.returned = Math.max(own.returned, next);
    return CompletableFuture.completedStage(new Delivery(next, texts, unknown, dropped));
  }

  @Override
  public synchronized CompletionStage<List<String>> claim(String address) {
    Release.requireAddress(address);
    if (closed) {
      return CompletableFuture.failedStage(StoreException.notSent("the exchange is closed"));
    }
    long now = TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos());
    Queue queue = queues.get(address);
    if (queue == null || queue.keptUntilMillis < now) {
      return CompletableFuture.completedStage(List.of());
    }
    Set<String> before = new HashSet<>();
    List<String> claimed = new ArrayList<>();
    for (Waiting each : queue.waiting) {
      boolean isFirst = before.add(each.text());
      if (each.number() > queue.returned) {
        if (claimed.size() == MAX_BATCH) {
          break;
        }
        queue.returned = each.number();
        if (isFirst && each.keptUntilMillis() >= now) {
          claimed.add(each.text());
        }
      }
    }
    return CompletableFuture.completedStage(claimed);
  }

  /** Removes what was delivered up to the receipt. */
  private void acknowledge(Deque<Waiting> waiting, long receipt) {
    if (receipt > number) { // never given by this exchange
      return;
    }
    while (!waiting.isEmpty() && waiting.getFirst().number() <= receipt) {
      waiting.removeFirst();
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
  }
}
