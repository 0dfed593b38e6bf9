package io.throttlekit.service.concurrency;

/** The result of a finished request, as far as it is evidence about the backend. */
public sealed interface Ending {

  /** Results without a measured latency. */
  enum Plain implements Ending {
    /** The backend has answered, as far as is known; its latency is the age of the permit. */
    ANSWERED,
    /** The backend did not answer in time, which is evidence of overload. */
    TIMED_OUT,
    /** No evidence: the request was not sent, failed fast, or was aborted. */
    UNKNOWN
  }

  /**
   * The backend has answered, with a latency that was measured close to it.
   *
   * @param nanos above 0
   */
  record Measured(long nanos) implements Ending {}
}
