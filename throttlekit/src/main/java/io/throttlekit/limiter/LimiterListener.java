package io.throttlekit.limiter;

/**
 * Receives the events of a limiter. Called with no lock held; must be thread-safe and quick.
 * Exceptions go to the thread's handler of uncaught exceptions.
 */
public interface LimiterListener {

  /** Ignores all events. */
  LimiterListener NONE = new LimiterListener() {};

  /** Called when the limit has changed. Two concurrent changes may be reported in either order. */
  default void limitChanged(int before, int now) {}

  /** Called when a request got no permit. */
  default void refused(Refusal why) {}
}
