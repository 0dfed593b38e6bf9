package io.throttlekit.service.concurrency;

/** What the end of a request says about its backend. */
public sealed interface Ending {

  /** Endings of which there is nothing to measure. */
  enum Plain implements Ending {
    /** The backend has answered, as far as anybody knows: it took as long as the lease lived. */
    ANSWERED,
    /** The backend did not answer in time, which is evidence of overload. */
    GIVEN_UP,
    /** Nothing: the request never went there, failed fast, or was broken off. */
    UNTOLD
  }

  /**
   * The backend has answered, and somebody near to it has measured how long it took.
   *
   * @param nanos above 0
   */
  record Measured(long nanos) implements Ending {}
}
