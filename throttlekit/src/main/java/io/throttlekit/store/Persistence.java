package io.throttlekit.store;

import java.util.List;

/**
 * The acknowledged data that a store outside this process may lose, by its settings.
 *
 * @param gaps the ways to lose data; empty for none
 */
public record Persistence(List<Gap> gaps) {

  /** Copies the list. */
  public Persistence {
    gaps = List.copyOf(gaps);
  }

  /**
   * One way to lose counts.
   *
   * @param cause of the loss
   * @param found the setting that allows it, and its value
   * @param remedy the setting to use instead
   */
  public record Gap(Cause cause, String found, String remedy) {}

  /** The cause of a loss. */
  public enum Cause {
    /** A restart of the server after a crash; detected when processes reconnect. */
    RESTART,
    /** A failover to a replica; detected when processes connect to it. */
    FAILOVER,
    /** Eviction of single counters when memory is full; not detected. */
    EVICTION,
    /** Restarts and failovers that are not detected, unless the store is empty. */
    UNNOTICED
  }
}
