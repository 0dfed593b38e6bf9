package io.throttlekit.service.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the store for counters, and of outages.
 *
 * @param address address of the store; without passwords
 * @param access credentials and TLS for a store outside of the process
 * @param keyPrefix prefix of every key there
 * @param maxCounters maximum number of counters in memory; beyond it the least useful one is
 *     evicted
 * @param deadlines timeouts of a store outside of the process
 * @param breaker circuit breaker for a failing store
 * @param maxLeaseCells maximum number of counters of which this process holds leased units
 * @param localShare share of each limit, from 0 to 1, that this process admits by itself during an
 *     outage, where the rule allows it
 * @param cachedDenyDefault whether rules that name no tier cache a refusal until it may end
 * @param perSecond second Redis for limits per second; absent for none
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
    boolean cachedDenyDefault,
    @Nullable PerSecond perSecond) {

  /**
   * Timeouts of a store outside of the process.
   *
   * @param call maximum time that a request waits for a decision or a lease; less where its
   *     caller's deadline is earlier
   * @param lease timeout of a lease; units that arrive between these two serve later requests
   * @param connect timeout of a new connection
   */
  public record Deadlines(Duration call, Duration lease, Duration connect) {}

  /**
   * Circuit breaker for a failing store.
   *
   * @param failures consecutive failures (refused or broken connections, or errors) that open it,
   *     from 1
   * @param after time without any answer, while calls are pending, that opens it
   * @param probeAfter time after which one call probes the store
   */
  public record Breaker(int failures, Duration after, Duration probeAfter) {}

  /**
   * A second Redis.
   *
   * @param address its address; without passwords
   * @param access credentials and TLS
   * @param connect timeout of a new connection
   */
  public record PerSecond(StoreAddress address, StoreAccess access, Duration connect) {}

  /** Returns the configuration of the second Redis as a store by itself; null without one. */
  public @Nullable StoreConfig secondStore() {
    return perSecond == null
        ? null
        : at(
            perSecond.address,
            perSecond.access,
            new Deadlines(deadlines.call, deadlines.lease, perSecond.connect));
  }

  /** Returns the same configuration with counters in the memory of this process. */
  public StoreConfig inMemory() {
    return at(new StoreAddress.Memory(), StoreAccess.open(), deadlines);
  }

  private StoreConfig at(StoreAddress other, StoreAccess by, Deadlines within) {
    return new StoreConfig(
        other,
        by,
        keyPrefix,
        maxCounters,
        within,
        breaker,
        maxLeaseCells,
        localShare,
        cachedDenyDefault,
        null);
  }
}
