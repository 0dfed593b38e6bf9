package io.throttlekit.record;

import io.throttlekit.record.RecordStore.Step;
import io.throttlekit.record.RecordStore.Transition;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The updates of one process: of each key one is on its way, and those that wait travel together as
 * the next one. Thread-safe and non-blocking.
 */
public final class RecordUpdates {
  /** 140,000 years: the end of a record overflows in no store, and a double holds it exactly. */
  private static final long MAX_KEPT_MILLIS = 1L << 52;

  private final Backend backend;

  /** The updates that wait, by the keys of which one is on its way; guarded by this. */
  private final Map<String, Deque<Update<?>>> waiting = new HashMap<>();

  /** What sends one update of a key at a time. */
  @FunctionalInterface
  public interface Backend {
    /**
     * Sends an update.
     *
     * @param keptMillis from 1 to 2^52
     */
    <R> CompletionStage<R> send(String key, long keptMillis, Transition<R> transition);
  }

  /** Creates updates that a backend sends. */
  public RecordUpdates(Backend backend) {
    this.backend = backend;
  }

  /**
   * Makes an update as {@link RecordStore#update} describes.
   *
   * @throws IllegalArgumentException when the time is out of range
   */
  public <R> CompletionStage<R> update(String key, Duration keptFor, Transition<R> transition) {
    long keptMillis = Math.min(keptFor.toMillis(), MAX_KEPT_MILLIS);
    if (keptMillis < 1) {
      throw new IllegalArgumentException("a record is kept for 1 ms at least, not " + keptFor);
    }
    Update<R> update = new Update<>(keptMillis, transition);
    synchronized (this) {
      Deque<Update<?>> others = waiting.get(key);
      if (others != null) {
        if (others.size() >= RecordStore.MAX_WAITING) {
          return CompletableFuture.failedStage(
              StoreException.notSent("too many updates wait for the record " + key));
        }
        others.add(update);
        return update.result.minimalCompletionStage();
      }
      waiting.put(key, new ArrayDeque<>());
    }
    send(key, List.of(update));
    return update.result.minimalCompletionStage();
  }

  private void send(String key, List<Update<?>> updates) {
    long keptMillis = updates.stream().mapToLong(update -> update.keptMillis).max().orElseThrow();
    CompletionStage<List<Runnable>> answer;
    try {
      answer = backend.send(key, keptMillis, (record, now) -> apply(updates, record, now));
    } catch (RuntimeException bug) {
      answer = CompletableFuture.failedStage(bug);
    }
    answer.whenComplete((completions, failure) -> {
      sendNext(key);
      if (failure == null) {
        completions.forEach(Runnable::run);
      } else {
        StoreException reason = StoreException.of(failure);
        updates.forEach(update -> update.result.completeExceptionally(reason));
      }
    });
  }

  private void sendNext(String key) {
    List<Update<?>> next;
    synchronized (this) {
      Deque<Update<?>> others = waiting.get(key);
      if (others == null || others.isEmpty()) {
        waiting.remove(key);
        return;
      }
      next = List.copyOf(others);
      others.clear();
    }
    send(key, next);
  }

  /** Applies transitions in their order; one that throws has no effect on the others. */
  private static Step<List<Runnable>> apply(
      List<Update<?>> updates, byte @Nullable [] record, long storeMillis) {
    List<Runnable> completions = new ArrayList<>();
    byte[] next = record;
    for (Update<?> update : updates) {
      next = update.apply(next, storeMillis, completions);
    }
    return new Step<>(next, completions);
  }

  private static final class Update<R> {
    final long keptMillis;
    final CompletableFuture<R> result = new CompletableFuture<>();
    private final Transition<R> transition;

    Update(long keptMillis, Transition<R> transition) {
      this.keptMillis = keptMillis;
      this.transition = transition;
    }

    /** Returns the next record, and adds what completes the update once that is stored. */
    byte @Nullable [] apply(
        byte @Nullable [] record, long storeMillis, List<Runnable> completions) {
      try {
        Step<R> step = transition.apply(record, storeMillis);
        byte[] next = step.next();
        if (next != null && next.length > RecordStore.MAX_RECORD_BYTES) {
          throw new IllegalStateException(
              "a record has at most %d bytes, not %d"
                  .formatted(RecordStore.MAX_RECORD_BYTES, next.length));
        }
        completions.add(() -> result.complete(step.result()));
        return next;
      } catch (RuntimeException bug) {
        completions.add(() -> result.completeExceptionally(bug));
        return record;
      }
    }
  }
}
