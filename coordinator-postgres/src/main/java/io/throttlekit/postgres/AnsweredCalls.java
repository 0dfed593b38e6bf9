package io.throttlekit.postgres;

import io.throttlekit.store.CallId;
import java.sql.Array;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The last call of each sender in one window of a row, with the units of its answer, so that a
 * repeated call takes effect once, as with {@link io.throttlekit.store.CallRecords} in memory.
 *
 * <p>A row stores them as one array: the end of the window, then sender, number and units of each
 * call. Calls of another window are dropped with the next write. Immutable.
 */
final class AnsweredCalls {
  private static final int RECORD = 3; // sender, number, units

  private final List<Long> stored;

  /** Thrown by a transaction whose call was overtaken by a later one of its sender. */
  static final class Overtaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Overtaken() {
      super(null, null, false, false); // callers get the message of StoreException
    }
  }

  private AnsweredCalls(List<Long> stored) {
    this.stored = stored;
  }

  /**
   * Reads the calls of one window.
   *
   * @param column as read from the row; absent if the row has none
   */
  static AnsweredCalls of(@Nullable Array column, long windowEndMillis) throws SQLException {
    List<Long> found = column == null ? List.of() : List.of((Long[]) column.getArray());
    boolean ofWindow = !found.isEmpty() && found.getFirst() == windowEndMillis;
    return new AnsweredCalls(ofWindow ? found : List.of(windowEndMillis));
  }

  /** Returns the end of their window. */
  long windowEndMillis() {
    return stored.getFirst();
  }

  /**
   * Returns the units that the same call was answered; empty for a new call.
   *
   * @param id absent for a call that is never repeated
   * @throws Overtaken if a later call of the sender was answered
   */
  OptionalLong answerTo(@Nullable CallId id) {
    if (id == null) {
      return OptionalLong.empty();
    }
    int at = indexOf(id.sender());
    if (at == stored.size() || stored.get(at + 1) < id.number()) {
      return OptionalLong.empty();
    }
    if (stored.get(at + 1) > id.number()) {
      throw new Overtaken();
    }
    return OptionalLong.of(stored.get(at + 2));
  }

  /** Returns these calls with one more, which replaces its sender's last one. */
  AnsweredCalls with(@Nullable CallId id, long units) {
    if (id == null) {
      return this;
    }
    List<Long> next = new ArrayList<>(stored);
    int at = indexOf(id.sender());
    next.subList(at, Math.min(at + RECORD, next.size())).clear(); // empty for a new sender
    next.addAll(at, List.of(id.sender(), id.number(), units));
    return new AnsweredCalls(next);
  }

  /** Returns the column of the row; absent if there are no calls. */
  @Nullable Array column(Session session) throws SQLException {
    return stored.size() == 1 ? null : session.numbers(stored);
  }

  private int indexOf(long sender) {
    int at = 1;
    while (at < stored.size() && stored.get(at) != sender) {
      at += RECORD;
    }
    return at;
  }
}
