package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Departure;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.ShareGrant;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Short forms of heartbeats in tests. */
final class Heartbeats {
  static final long LEASE_MILLIS = 3_600_000;

  private Heartbeats() {}

  /** Returns a heartbeat of a node with a limit of ten that refuses requests. */
  static Heartbeat of(String node, long sequence) {
    return of(node, sequence, LEASE_MILLIS);
  }

  static Heartbeat of(String node, long sequence, long leaseMillis) {
    SampleDigest digest =
        new SampleDigest(
            2, 0, 0, 1, false, RequestStatistics.NONE, List.of(1_000L, sequence * 1_000L));
    return new Heartbeat(
        "limit", node, 1, sequence, 10, true, 0, 0, 1, sequence - 1, leaseMillis, 0, null, digest);
  }

  static ShareGrant beat(ConcurrencyCoordinator coordinator, String node, long sequence) {
    return answer(coordinator.heartbeat(of(node, sequence)));
  }

  static CompletionStage<Boolean> leave(ConcurrencyCoordinator coordinator, String node) {
    return coordinator.leave(new Departure("limit", node, 1, 0)).thenApply(_ -> true);
  }
}
