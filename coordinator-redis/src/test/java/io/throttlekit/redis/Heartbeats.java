package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;

import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.ShareGrant;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Short forms of heartbeats in tests. */
final class Heartbeats {
  private static final long LEASE_MILLIS = 3_600_000;

  private Heartbeats() {}

  /** Returns a heartbeat of a node with a limit of ten that refuses requests. */
  static Heartbeat of(String key, String node, long sequence) {
    return of(key, node, sequence, LEASE_MILLIS, null);
  }

  static Heartbeat of(
      String key,
      String node,
      long sequence,
      long leaseMillis,
      Heartbeat.@Nullable Publication publication) {
    return new Heartbeat(
        key, node, 1, sequence, 10, true, 0, 0, 1, sequence - 1, leaseMillis, 0, publication, null);
  }

  static ShareGrant beat(
      ConcurrencyCoordinator coordinator, String key, String node, long sequence) {
    return answer(coordinator.heartbeat(of(key, node, sequence)));
  }

  /** Returns whether the coordinator answers now. */
  static boolean answers(ConcurrencyCoordinator coordinator) {
    try {
      beat(coordinator, "any", "anybody", 1);
      return true;
    } catch (CompletionException _) {
      return false;
    }
  }
}
