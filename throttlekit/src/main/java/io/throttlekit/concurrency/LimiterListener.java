package io.throttlekit.concurrency;

/**
 * Is told what a limiter does, with no lock held. Thread-safe and quick; what it throws goes to the
 * thread's handler of uncaught exceptions.
 */
public interface LimiterListener {

  /** Listens to nothing. */
  LimiterListener NONE = new LimiterListener() {};

  /** The ceiling moved. Of two moves at the same time, either may be told first. */
  default void ceilingChanged(int before, int now) {}

  /** A request got no permit. */
  default void refused(Refusal why) {}
}
