package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreListener;
import io.throttlekit.tier.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What surrounds stores in tests. */
final class Around {
  /** Runs things when they are due, by the clock of this machine. */
  static final Timer TIMER =
      (nanos, task) -> CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task);

  private Around() {}

  /** A server whose clock is a test's. */
  static Database.Surroundings clock(TimeSource clock) {
    return new Database.Surroundings(TimeSource.system(), TIMER, StoreListener.NONE, clock);
  }

  /** The server's own clock. */
  static Database.Surroundings heard(StoreListener listener) {
    return new Database.Surroundings(TimeSource.system(), TIMER, listener, null);
  }
}
