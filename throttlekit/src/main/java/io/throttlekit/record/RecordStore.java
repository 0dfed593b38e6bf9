package io.throttlekit.record;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Records that the processes of one store share. A rule that changes a record is a {@link
 * Transition} in Java; a store applies transitions of one key one after another, whichever process
 * they come from.
 *
 * <p>Updates of one process and key take effect in their order. While an update is on its way,
 * later ones of that key wait, and then travel together.
 *
 * <p>A store may lose records, as after the promotion of a replica that lagged: transitions see a
 * record of earlier content, or none.
 *
 * <p>Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}; the update may have taken effect all the same, unless the
 * failure says that it was not sent. A transition that must not be applied twice recognizes its
 * repetition by what is in the record.
 */
public interface RecordStore extends AutoCloseable {
  /** The most bytes of a record. */
  int MAX_RECORD_BYTES = 8 << 20;

  /** The most updates of a process that wait for one key; of more, an update fails. */
  int MAX_WAITING = 4_096;

  /**
   * Changes a record in one atomic step.
   *
   * @param key any text
   * @param keptFor how long the store keeps a record that the transition writes, at least; from 1
   *     ms. A record stays as long as any of its updates asked for. A record that the transition
   *     leaves as it is does not stay longer
   * @throws IllegalArgumentException when the time is out of range
   */
  <R> CompletionStage<R> update(String key, Duration keptFor, Transition<R> transition);

  /** Rejects new updates and closes connections; updates on their way may fail. */
  @Override
  void close();

  /**
   * A rule that changes a record: a pure function, because a store may call it several times, on
   * any thread.
   *
   * @param <R> its result
   */
  @FunctionalInterface
  interface Transition<R> {
    /**
     * Returns the next record and the result. What this throws fails the update, which has no
     * effect then.
     *
     * @param record not to be modified; null if the store has none
     * @param storeMillis ms since the Unix epoch by the store's clock, after the update was called
     *     and not after it takes effect
     */
    Step<R> apply(byte @Nullable [] record, long storeMillis);
  }

  /**
   * The result of a transition.
   *
   * @param next the next record, of at most {@link #MAX_RECORD_BYTES} and not to be modified; null
   *     for none. With the array that the transition was given, nothing is written
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by identity
  record Step<R>(byte @Nullable [] next, R result) {
    /** Returns whether nothing is to be written. */
    @SuppressWarnings("ReferenceEquality") // a transition that writes an equal record writes it
    public boolean isUnchanged(byte @Nullable [] record) {
      return next == record;
    }
  }
}
