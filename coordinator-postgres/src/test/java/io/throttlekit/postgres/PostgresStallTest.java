package io.throttlekit.postgres;

import io.throttlekit.DataLoss;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StallConformance;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;

/** A PostgreSQL that pauses, for a moment or for longer. */
@RealPostgres
class PostgresStallTest extends StallConformance {
  private final PostgresProcess server = PostgresProcess.startFast();
  private final RecordingListener listener = new RecordingListener();
  private final PostgresCounterStore store =
      new PostgresCounterStore(
          Wanted.of(server.url("postgres"))
              .connections(8)
              .deadlines(1_000, 10_000)
              .breaker(5, 1_000, 25)
              .settings(),
          TestSurroundings.notifying(listener));

  @AfterEach
  void stop() {
    store.close();
    server.close();
  }

  @Override
  protected CounterStore store() {
    return store;
  }

  @Override
  protected Claim claim(String user) {
    return StoreCalls.claim(StoreCalls.FIVE, user, 1, DataLoss.REFILL);
  }

  @Override
  protected void pause(long millis) {
    server.hang();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    server.goOn();
  }

  @Override
  protected void hang() {
    server.hang();
  }

  @Override
  protected void goOn() {
    server.goOn();
  }

  @Override
  protected RecordingListener listener() {
    return listener;
  }
}
