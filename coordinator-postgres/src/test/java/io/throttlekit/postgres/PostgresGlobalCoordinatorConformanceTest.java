package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.GlobalCoordinatorConformance;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresGlobalCoordinatorConformanceTest extends GlobalCoordinatorConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    database.empty();
    return new PostgresGlobalCoordinator(
        Wanted.of(database.url()).connections(2).settings(), TestSurroundings.clock(clock));
  }
}
