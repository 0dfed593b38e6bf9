package io.throttlekit.postgres;

import io.throttlekit.DataLoss;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StallConformance;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
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
              .deadlines(1_000, Wanted.LONG_MILLIS)
              .breaker(5, 1_000, 25)
              .settings(),
          new Database.Surroundings(time, TestSurroundings.TIMER, listener, null));

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
