package io.throttlekit.envoy.ceiling;

/** A timer. Thread-safe. */
@FunctionalInterface
public interface Delay {

  /** Runs a task after some ns, on any thread; returns at once. */
  void run(Runnable task, long nanos);
}
