package io.throttlekit.store;

/**
 * Hears what a store, an escrow or a coordinator outside this process does, for metrics and logs.
 *
 * <p>Called by several threads, event loops among them: implementations are thread-safe, do not
 * block and do not throw.
 */
public interface StoreListener {

  /** Hears nothing. */
  StoreListener NONE = new StoreListener() {};

  /**
   * A round trip was answered.
   *
   * @param requests how many shared it
   * @param nanos from asking to the answer, with the wait for a connection
   */
  default void roundTrip(int requests, long nanos) {}

  /**
   * So many requests did not get an answer, or not in time.
   *
   * @param inWords what happened, for an operator
   */
  default void failed(int requests, Failure why, String inWords) {}

  /** A transaction is tried again, because another one was in its way. */
  default void triedAgain() {}

  /** A connection was made, of which there may be several. */
  default void connected() {}

  /** A connection could not be made; it is tried again. */
  default void notConnected(String whyInWords) {}

  /** It answers again, after {@link #down()}. */
  default void up() {}

  /** It does not answer; requests fail at once until it does. */
  default void down() {}

  /** It has lost its data, at {@code lossMillis} by its clock or before. */
  default void dataLost(long lossMillis) {}

  /** What its settings let it lose; reported for each connection, or less often. */
  default void persistence(Persistence found) {}

  /** So many rows whose time is over were deleted. */
  default void collected(int rows) {}

  /** Why a request got no answer. */
  enum Failure {
    /** It took too long; what was asked may still be counted. */
    DEADLINE,
    /** The same of a lease, or of what may take as long. */
    LEASE_DEADLINE,
    /** There was no connection, or it broke; what was asked may be counted. */
    CONNECTION,
    /** The answer was an error, or the schema there is not the one that is needed. */
    ERROR,
    /** Not sent, because others were not answered before. */
    OPEN
  }
}
