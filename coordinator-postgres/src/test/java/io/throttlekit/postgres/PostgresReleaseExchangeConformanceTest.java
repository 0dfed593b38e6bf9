package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchangeConformance;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresReleaseExchangeConformanceTest extends ReleaseExchangeConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @Override
  protected ReleaseExchange open() {
    database.empty();
    return new PostgresReleaseExchange(
        Wanted.of(database.url()).settings(), TestSurroundings.clock(clock));
  }

  @Override
  protected void advance(long millis) {
    clock.advance(millis);
  }
}
