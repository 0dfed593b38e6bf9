package io.throttlekit.record;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records in the memory of one process: the reference implementation. Answers before its method
 * returns. Thread-safe.
 */
public final class InMemoryRecordStore implements RecordStore {
  /** The number of records from which expired records are looked for. */
  private static final int MIN_SWEPT = 64;

  private final TimeSource time;
  private final ConcurrentHashMap<String, Kept> records = new ConcurrentHashMap<>();
  private final RecordUpdates updates = new RecordUpdates(this::send);
  private volatile int sweptFrom = MIN_SWEPT;
  private volatile boolean closed;

  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Kept(byte[] record, long untilMillis) {}

  /** Creates a store without records, whose clock is the wall clock. */
  public InMemoryRecordStore(TimeSource time) {
    this.time = time;
  }

  @Override
  public <R> CompletionStage<R> update(String key, Duration keptFor, Transition<R> transition) {
    return updates.update(key, keptFor, transition);
  }

  private <R> CompletionStage<R> send(String key, long keptMillis, Transition<R> transition) {
    if (closed) {
      return CompletableFuture.failedStage(StoreException.notSent("the store is closed"));
    }
    CompletableFuture<R> result = new CompletableFuture<>();
    records.compute(
        key,
        (_, kept) -> {
          long now = time.wallMillis();
          long until = kept == null ? now : kept.untilMillis();
          byte[] record = kept == null || until < now ? null : kept.record();
          Step<R> step = transition.apply(record, now);
          byte[] next = step.next();
          result.complete(step.result());
          if (step.isUnchanged(record)) {
            return record == null ? null : kept;
          }
          return next == null ? null : new Kept(next, Math.max(until, now + keptMillis));
        });
    sweep();
    return result;
  }

  /** Removes expired records when their number has doubled. */
  private void sweep() {
    if (records.size() >= sweptFrom) {
      long now = time.wallMillis();
      records.values().removeIf(kept -> kept.untilMillis() < now);
      sweptFrom = Math.max(MIN_SWEPT, 2 * records.size());
    }
  }

  /** Returns the number of records, with expired ones that were not removed yet. */
  int size() {
    return records.size();
  }

  @Override
  public void close() {
    closed = true;
  }
}
