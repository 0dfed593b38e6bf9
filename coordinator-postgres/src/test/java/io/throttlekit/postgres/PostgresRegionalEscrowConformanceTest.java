package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.federation.RegionalEscrowConformance;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresRegionalEscrowConformanceTest extends RegionalEscrowConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @Override
  protected RegionalEscrow open(ManualTime clock) {
    database.empty();
    return new PostgresRegionalEscrow(
        Wanted.of(database.url()).connections(2).settings(), TestSurroundings.clock(clock));
  }
}
