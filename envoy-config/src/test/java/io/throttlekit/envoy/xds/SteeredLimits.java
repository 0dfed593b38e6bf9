package io.throttlekit.envoy.xds;

import io.grpc.BindableService;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitServer.Mark;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** Limits divided and served by one replica, which steers itself. Thread-safe. */
final class SteeredLimits {
  private final TimeSource time = TimeSource.system();
  private final LimitServer server;
  private final LimitDivision division;
  private final long epoch;

  SteeredLimits(long epoch, IntConsumer acknowledged) {
    this.epoch = epoch;
    LimitServerSettings settings = LimitServerSettings.DEFAULT;
    server =
        new LimitServer(
            settings,
            time,
            (nanos, task) ->
                CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(task),
            this::visit);
    division =
        LimitDivision.from(
            SharePlan.EMPTY,
            epoch,
            settings,
            (_, requests, _) -> acknowledged.accept(requests),
            time.monotonicNanos());
  }

  List<BindableService> services() {
    return server.services();
  }

  synchronized void offer(String cluster, Priority priority, int requests) {
    division.offer(new ClusterLimit(cluster, priority), requests);
    visit();
  }

  synchronized void withdraw(String cluster, Priority priority) {
    division.withdraw(new ClusterLimit(cluster, priority));
    visit();
  }

  /** Returns the tokens of the Envoys that are connected. */
  List<String> tokens() {
    return server.streams().stream().map(StreamState::token).toList();
  }

  private synchronized void visit() {
    Mark mark = server.begin();
    long now = time.monotonicNanos();
    division.reported("the only one", server.streams(), now);
    server.apply(division.round(now), Long.toString(epoch), mark);
  }
}
