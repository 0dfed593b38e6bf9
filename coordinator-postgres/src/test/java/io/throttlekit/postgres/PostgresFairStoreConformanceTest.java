package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.FairStoreConformance;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresFairStoreConformanceTest extends FairStoreConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final OwnSchemas schemas = new OwnSchemas(database);

  @Override
  protected CounterStore open(ManualTime clock) {
    return new PostgresCounterStore(
        Wanted.of(database.url()).connections(1).schema(schemas.next()).settings(),
        TestSurroundings.clock(clock));
  }

  @Override
  protected int seeds() {
    return 1; // a commit takes longer than a decision in memory
  }

  @Override
  protected int steps() {
    return 80;
  }
}
