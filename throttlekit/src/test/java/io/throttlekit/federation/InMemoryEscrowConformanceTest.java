package io.throttlekit.federation;

import io.throttlekit.ManualTime;

class InMemoryEscrowConformanceTest extends RegionalEscrowConformance {
  @Override
  protected RegionalEscrow open(ManualTime clock) {
    return new InMemoryEscrow(clock);
  }
}
