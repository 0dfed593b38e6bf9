package io.throttlekit.service.config;

import java.time.Duration;

/**
 * Where counters live, and what is done while they cannot be reached.
 *
 * @param address where counters live; without passwords
 * @param access how a store outside the process is entered
 * @param keyPrefix what the name of every key there begins with
 * @param maxCounters most counters kept in memory; beyond it the least useful one is forgotten
 * @param deadlines how long a store outside the process may take
 * @param breaker when a store that fails is left alone
 * @param maxLeaseCells most counters of which this process holds leased units
 * @param localShare share of each limit, from 0 to 1, that this process admits by itself while the
 *     store cannot be reached, where the rule says so
 * @param cachedDenyDefault whether rules that name no tier remember a refusal until it may end
 */
public record StoreConfig(
    StoreAddress address,
    StoreAccess access,
    String keyPrefix,
    long maxCounters,
    Deadlines deadlines,
    Breaker breaker,
    int maxLeaseCells,
    double localShare,
    boolean cachedDenyDefault) {

  /**
   * How long a store outside the process may take.
   *
   * @param call longest that a request waits for it, for a decision or for a lease; less where its
   *     caller waits less
   * @param lease what a lease may take; units that come between these two serve later requests
   * @param connect what a connection may take to be made
   */
  public record Deadlines(Duration call, Duration lease, Duration connect) {}

  /**
   * When a store that fails is left alone.
   *
   * @param failures refused or broken connections, or errors, in a row that open it, from 1
   * @param after time without any answer, while calls are pending, that opens it
   * @param probeAfter time after which one call tries again
   */
  public record Breaker(int failures, Duration after, Duration probeAfter) {}

  /** What is in force when nothing is configured. */
  public static StoreConfig defaults() {
    return new StoreConfig(
        new StoreAddress.Memory(),
        StoreAccess.open(),
        "throttlekit:",
        1_000_000,
        new Deadlines(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(2)),
        new Breaker(5, Duration.ofSeconds(1), Duration.ofMillis(25)),
        100_000,
        0.1,
        false);
  }

  /** The same, with counters in the memory of this process. */
  public StoreConfig inMemory() {
    return new StoreConfig(
        new StoreAddress.Memory(),
        StoreAccess.open(),
        keyPrefix,
        maxCounters,
        deadlines,
        breaker,
        maxLeaseCells,
        localShare,
        cachedDenyDefault);
  }
}
