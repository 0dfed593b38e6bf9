package io.throttlekit.redis;

import io.throttlekit.store.Persistence;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The settings of a Redis that affect what it may lose, by name; unreadable ones are missing.
 *
 * @param append settings of the append-only file
 * @param memory settings of eviction
 */
record RedisPersistence(Map<String, String> append, Map<String, String> memory) {
  private static final String POLICY = "maxmemory-policy";
  private static final String NO_EVICTION = "noeviction";

  /** Returns whether Redis writes all data to disk before it acknowledges them. */
  boolean isDurable() {
    return "yes".equals(append.get("appendonly"))
        && "always".equals(append.get("appendfsync"))
        && "no".equals(append.getOrDefault("no-appendfsync-on-rewrite", "no"));
  }

  /**
   * Returns what a single server, or one behind Sentinels, may lose.
   *
   * @param comparesHistory whether a restart with older data is detected
   * @param replicas number of replicas that may take over
   */
  Persistence of(boolean comparesHistory, long replicas) {
    List<Gap> gaps = new ArrayList<>();
    if (!isDurable()) {
      gaps.add(restart());
    }
    if (replicas > 0) {
      gaps.add(failover("replication to " + replicas + " replica" + (replicas > 1 ? "s" : "")));
    }
    return withOthers(gaps, comparesHistory);
  }

  /**
   * Returns what a Cluster may lose; each of its nodes may have its own settings.
   *
   * @param comparesHistory whether a restart or failover with older data is detected
   */
  Persistence inCluster(boolean comparesHistory) {
    List<Gap> gaps = new ArrayList<>();
    gaps.add(failover("replication in a Cluster"));
    return withOthers(gaps, comparesHistory);
  }

  private static Gap failover(String found) {
    return new Gap(
        Cause.FAILOVER,
        found + " is asynchronous",
        "PostgreSQL with a synchronous standby loses no data");
  }

  private Gap restart() {
    return append.isEmpty()
        ? new Gap(
            Cause.RESTART,
            "CONFIG GET is not allowed",
            "grant +config|get, and set appendonly yes and appendfsync always")
        : new Gap(
            Cause.RESTART,
            "appendonly %s, appendfsync %s, no-appendfsync-on-rewrite %s"
                .formatted(
                    append.get("appendonly"),
                    append.get("appendfsync"),
                    append.get("no-appendfsync-on-rewrite")),
            "set appendonly yes, appendfsync always and no-appendfsync-on-rewrite no");
  }

  private Persistence withOthers(List<Gap> gaps, boolean comparesHistory) {
    if (!comparesHistory) {
      gaps.add(new Gap(Cause.UNNOTICED, "the user may not call INFO", "grant +info"));
    }
    String policy = memory.get(POLICY);
    if (policy == null) { // unknown is no promise
      gaps.add(
          new Gap(
              Cause.EVICTION,
              POLICY + " cannot be read",
              "grant +config|get, and set maxmemory-policy noeviction"));
    } else if (!policy.equals(NO_EVICTION)) { // counters have a TTL, so volatile-* evicts them
      gaps.add(new Gap(Cause.EVICTION, POLICY + " " + policy, "set maxmemory-policy noeviction"));
    }
    return new Persistence(gaps);
  }
}
