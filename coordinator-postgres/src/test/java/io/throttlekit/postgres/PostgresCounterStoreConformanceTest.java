package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.CounterStoreConformance;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresCounterStoreConformanceTest extends CounterStoreConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @Override
  protected CounterStore open(ManualTime clock) {
    database.empty();
    return new PostgresCounterStore(
        Wanted.of(database.url()).connections(2).settings(), TestSurroundings.clock(clock));
  }
}
