package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.FairCoordinatorConformance;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresFairCoordinatorConformanceTest extends FairCoordinatorConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    database.empty();
    return new PostgresGlobalCoordinator(
        Wanted.of(database.url()).connections(2).settings(), TestSurroundings.clock(clock));
  }
}
