package io.throttlekit.limiter;

/**
 * Receives the events of a prioritizer. Called with no lock held; must be thread-safe and quick.
 */
@FunctionalInterface
public interface PrioritizerListener {

  /** Ignores all events. */
  PrioritizerListener NONE = (_, _) -> {};

  /** Called when the level that a request needs to wait has changed. */
  void thresholdChanged(int before, int now);
}
