package io.throttlekit.store;

import java.util.List;

/**
 * What a store outside this process may lose of what it has acknowledged, by its settings.
 *
 * @param gaps empty where it loses nothing
 */
public record Persistence(List<Gap> gaps) {

  /** Copies the list. */
  public Persistence {
    gaps = List.copyOf(gaps);
  }

  /**
   * One way to lose counts.
   *
   * @param cause when they are lost
   * @param found the setting that allows it, and its value
   * @param remedy what to set instead
   */
  public record Gap(Cause cause, String found, String remedy) {}

  /** When counts are lost. */
  public enum Cause {
    /** The server restarts after a crash; noticed when processes connect again. */
    RESTART,
    /** A replica takes over; noticed when processes connect to it. */
    FAILOVER,
    /** Memory is full: single counters are evicted, which is not noticed. */
    EVICTION,
    /** Neither a restart nor a failover is noticed, but for an empty store. */
    UNNOTICED
  }
}
