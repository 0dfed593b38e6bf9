package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreListener;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The surroundings of stores in tests. */
final class TestSurroundings {
  /** Runs due tasks by the clock of this machine. */
  static final Scheduler TIMER =
      (nanos, task) -> CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task);

  private TestSurroundings() {}

  /** Replaces the server's clock by a test's. */
  static Database.Surroundings clock(TimeSource clock) {
    return new Database.Surroundings(TimeSource.system(), TIMER, StoreListener.NONE, clock);
  }

  /** Uses the server's own clock, with a listener. */
  static Database.Surroundings notifying(StoreListener listener) {
    return new Database.Surroundings(TimeSource.system(), TIMER, listener, null);
  }
}
