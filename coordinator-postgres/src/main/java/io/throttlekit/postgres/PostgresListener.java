package io.throttlekit.postgres;

/**
 * Hears what a store or coordinator in PostgreSQL does, for metrics and logs.
 *
 * <p>Called by several threads: implementations are thread-safe, do not block and do not throw.
 */
public interface PostgresListener {

  /** Hears nothing. */
  PostgresListener NONE = new PostgresListener() {};

  /**
   * A call was answered.
   *
   * @param nanos from asking to the answer, with the wait for a connection
   */
  default void answered(long nanos) {}

  /**
   * A call did not get an answer, or not in time.
   *
   * @param inWords what happened, for an operator
   */
  default void failed(Failure why, String inWords) {}

  /** A transaction is tried again, because another one was in its way. */
  default void triedAgain() {}

  /** PostgreSQL answers again, after {@link #down()}. */
  default void up() {}

  /** PostgreSQL does not answer; calls fail at once until it does. */
  default void down() {}

  /** PostgreSQL has lost the data, at {@code lossMillis} by its clock or before. */
  default void dataLost(long lossMillis) {}

  /** So many rows whose time is over were deleted. */
  default void collected(int rows) {}

  /** Why a call got no answer. */
  enum Failure {
    /** It took too long; what was asked may still be counted. */
    DEADLINE,
    /** The same of a lease, or of what may take as long. */
    LEASE_DEADLINE,
    /** There was no connection, or it broke; what was asked may be counted. */
    CONNECTION,
    /** PostgreSQL answered with an error, or the schema is not the one that is needed. */
    ERROR,
    /** Not asked, because PostgreSQL did not answer before. */
    OPEN
  }
}
