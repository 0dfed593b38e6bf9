package io.throttlekit.service.server;

import io.grpc.BindableService;
import io.grpc.SynchronizationContext;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitDivision;
import io.throttlekit.envoy.xds.LimitServer;
import io.throttlekit.envoy.xds.LimitServerListener;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.envoy.xds.SharePlan;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Limits of one replica that divides and serves them. Thread-safe; never blocks. */
public final class ServedLimits {
  private final TimeSource time;
  private final SynchronizationContext one =
      new SynchronizationContext((_, e) -> {
        throw new AssertionError(e);
      });
  private final LimitServer server;
  private final LimitDivision division;

  /** Creates limits that notify {@code listener} of acknowledgements. */
  public ServedLimits(LimitServerSettings settings, TimeSource time, LimitServerListener listener) {
    this.time = time;
    this.server =
        new LimitServer(
            settings,
            time,
            (nanos, task) ->
                CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(task),
            () -> one.execute(this::visit));
    this.division =
        LimitDivision.from(SharePlan.EMPTY, 1, settings, listener, time.monotonicNanos());
  }

  /** Returns the services from which Envoys request their limits. */
  public List<BindableService> services() {
    return server.services();
  }

  /** Offers a limit of a cluster. */
  public void offer(String cluster, int requests) {
    one.execute(() -> {
      division.offer(new ClusterLimit(cluster, Priority.DEFAULT), requests);
      visit();
    });
  }

  /** Divides the limits again. */
  public void tick() {
    one.execute(this::visit);
    server.tick();
  }

  private void visit() {
    LimitServer.Mark mark = server.begin();
    long now = time.monotonicNanos();
    division.reported("the only one", server.streams(), now);
    server.apply(division.round(now), "1", mark);
  }
}
