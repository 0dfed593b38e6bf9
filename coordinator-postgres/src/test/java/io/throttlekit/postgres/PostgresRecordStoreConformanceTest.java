package io.throttlekit.postgres;

import io.throttlekit.record.RecordStore;
import io.throttlekit.record.RecordStoreConformance;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealPostgres
class PostgresRecordStoreConformanceTest extends RecordStoreConformance {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @Override
  protected void empty() {
    database.empty();
  }

  @Override
  protected RecordStore open() {
    return new PostgresRecordStore(
        Wanted.of(database.url()).settings(), TestSurroundings.clock(clock()));
  }
}
