package io.throttlekit.simulator.fleet;

import io.throttlekit.Scheduler;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Departure;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.simulator.concurrency.Chance;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** A coordinator behind a network that delays each message at random. */
final class DelayedCoordinator implements ConcurrencyCoordinator {
  /** The longest time of a message on the network; their mean is half of it. */
  private static final long MAX_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final ConcurrencyCoordinator target;
  private final Scheduler timer;
  private final Chance chance;

  DelayedCoordinator(ConcurrencyCoordinator target, Scheduler timer, Chance chance) {
    this.target = target;
    this.timer = timer;
    this.chance = chance;
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(Heartbeat heartbeat) {
    CompletableFuture<ShareGrant> answer = new CompletableFuture<>();
    later(
        () -> target.heartbeat(heartbeat).thenAccept(grant -> later(() -> answer.complete(grant))));
    return answer;
  }

  @Override
  public CompletionStage<Void> leave(Departure departure) {
    later(() -> target.leave(departure));
    return CompletableFuture.completedStage(null);
  }

  @Override
  public CompletionStage<Void> released(ReleasedPermits released) {
    later(() -> target.released(released));
    return CompletableFuture.completedStage(null);
  }

  @Override
  public void close() {}

  private void later(Runnable message) {
    timer.runAfter(1 + (long) (chance.uniform() * MAX_DELAY_NANOS), message);
  }
}
