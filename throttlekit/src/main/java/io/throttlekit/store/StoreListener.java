package io.throttlekit.store;

/**
 * Receives events of a store, an escrow or a coordinator outside this process, for metrics and
 * logs.
 *
 * <p>Called by several threads, event loops among them: implementations are thread-safe, do not
 * block and do not throw.
 */
public interface StoreListener {

  /** Ignores all events. */
  StoreListener NONE = new StoreListener() {};

  /**
   * A round trip was answered.
   *
   * @param requests how many requests shared it
   * @param nanos from the request to the answer, including the wait for a connection
   */
  default void roundTrip(int requests, long nanos) {}

  /**
   * Requests got no answer, or not in time.
   *
   * @param requests how many
   * @param cause for an operator
   */
  default void failed(int requests, Failure kind, String cause) {}

  /** A transaction is retried after a conflict with another one. */
  default void triedAgain() {}

  /** A connection was opened; there may be several. Only a store on Redis reports it. */
  default void connected() {}

  /** A connection that was opened was lost or closed. Only a store on Redis reports it. */
  default void disconnected() {}

  /** A connection could be opened. A store on Redis reports {@link #connected()} in its place. */
  default void reachable() {}

  /** There is no connection, and none could be opened; that is retried. */
  default void notConnected(String failureReason) {}

  /** The store answers again, after {@link #down()}. */
  default void up() {}

  /** The store does not answer; requests fail at once until it does. */
  default void down() {}

  /** The store has lost its data, at {@code lossMillis} by its clock or before. */
  default void dataLost(long lossMillis) {}

  /** Its settings allow these losses; reported for each connection, or less often. */
  default void persistence(Persistence found) {}

  /** Expired rows were deleted. */
  default void collected(int rows) {}

  /** The cause of a request's failure. */
  enum Failure {
    /** The deadline passed; the request may still be counted. */
    DEADLINE,
    /** The deadline passed for a lease, or for a call with the same deadline. */
    LEASE_DEADLINE,
    /** No connection, or it was lost; the request may have been counted. */
    CONNECTION,
    /** The answer was an error, or the schema is not the required one. */
    ERROR,
    /** Not sent, because earlier requests were not answered. */
    OPEN
  }
}
