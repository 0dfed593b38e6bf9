package io.throttlekit.redis;

/**
 * Hears what a {@link RedisCounterStore}, a {@link RedisGlobalCoordinator} or a {@link
 * RedisRegionalEscrow} does, for metrics and logs.
 *
 * <p>Called on event loops, by several threads: implementations are thread-safe, do not block and
 * do not throw.
 */
public interface RedisListener {

  /** Hears nothing. */
  RedisListener NONE = new RedisListener() {};

  /**
   * A round trip was answered.
   *
   * @param requests how many shared it
   * @param nanos from sending to the answer
   */
  default void roundTrip(int requests, long nanos) {}

  /**
   * So many requests did not get an answer, or not in time.
   *
   * @param inWords what happened, for an operator
   */
  default void failed(int requests, Failure why, String inWords) {}

  /** A connection was made, of which there may be several. */
  default void connected() {}

  /** A connection could not be made; it is tried again. */
  default void notConnected(String whyInWords) {}

  /** Redis answers again, after {@link #down()}. */
  default void up() {}

  /** Redis does not answer; requests fail at once until it does. */
  default void down() {}

  /** Redis has lost its data, at {@code lossMillis} by its clock or before. */
  default void dataLost(long lossMillis) {}

  /** Why a request got no answer. */
  enum Failure {
    /** It took too long; it may still be counted. */
    DEADLINE,
    /** The same of a lease, or of what may take as long. */
    LEASE_DEADLINE,
    /** There was no connection, or it broke; it may be counted. */
    CONNECTION,
    /** Redis answered with an error. */
    ERROR,
    /** Not sent, because Redis did not answer others before. */
    OPEN
  }
}
