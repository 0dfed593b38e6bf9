package io.throttlekit.postgres;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.ConcurrencyCoordinatorDifferential;
import io.throttlekit.share.Coordination;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresConcurrencyDifferentialTest extends ConcurrencyCoordinatorDifferential {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @Override
  protected ConcurrencyCoordinator open(Coordination terms, ManualTime clock) {
    database.empty();
    return new PostgresConcurrencyCoordinator(
        Wanted.of(database.url()).settings(), terms, TestSurroundings.clock(clock));
  }

  @Override
  protected int steps() {
    return 300; // a commit takes longer than a script
  }
}
