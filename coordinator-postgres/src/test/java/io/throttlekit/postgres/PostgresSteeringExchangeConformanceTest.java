package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchangeConformance;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresSteeringExchangeConformanceTest extends SteeringExchangeConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @Override
  protected SteeringExchange open(ManualTime clock) {
    database.empty();
    return new PostgresSteeringExchange(
        Wanted.of(database.url()).settings(), TestSurroundings.clock(clock));
  }
}
