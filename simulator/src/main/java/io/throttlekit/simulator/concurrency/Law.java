package io.throttlekit.simulator.concurrency;

import io.throttlekit.concurrency.Sample;

/** What decides a ceiling: a law of ours, of somebody else, or none. */
interface Law {

  /** How many requests may be in flight now. */
  int ceiling();

  /** What it makes of a request that has ended. */
  default void learn(Sample sample) {}

  /** What it makes of requests that the ceiling kept out, as this process hears of it. */
  default void refused(long arrivedNanos, long requests) {}

  /** What it makes of being obeyed from now on. */
  default void inForce(int requests, long sinceNanos) {}

  /** Whether the ceiling is lowered now only to measure. */
  default boolean probing() {
    return false;
  }
}
