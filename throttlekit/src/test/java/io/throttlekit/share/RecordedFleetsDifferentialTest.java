package io.throttlekit.share;

import io.throttlekit.ManualTime;
import io.throttlekit.record.InMemoryRecordStore;

/** Every state passes through a record between two calls. */
class RecordedFleetsDifferentialTest extends ConcurrencyCoordinatorDifferential {
  @Override
  protected ConcurrencyCoordinator open(Coordination terms, ManualTime clock) {
    return new RecordedFleets(new InMemoryRecordStore(clock), terms);
  }
}
