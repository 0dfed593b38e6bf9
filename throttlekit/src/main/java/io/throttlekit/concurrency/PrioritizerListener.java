package io.throttlekit.concurrency;

/** Is told what a prioritizer does, with no lock held. Thread-safe and quick. */
@FunctionalInterface
public interface PrioritizerListener {

  /** Listens to nothing. */
  PrioritizerListener NONE = (_, _) -> {};

  /** Another level is needed from now on where requests have to wait. */
  void thresholdChanged(int before, int now);
}
