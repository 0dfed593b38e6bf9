package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.ConcurrencyCoordinatorConformance;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.RecordedFleets;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresRecordedFleetsTest extends ConcurrencyCoordinatorConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @Override
  protected ConcurrencyCoordinator open(Coordination terms) {
    database.empty();
    return new RecordedFleets(
        new PostgresRecordStore(
            Wanted.of(database.url()).settings(), TestSurroundings.clock(clock)),
        terms);
  }

  @Override
  protected void advance(long millis) {
    clock.advance(millis);
  }
}
