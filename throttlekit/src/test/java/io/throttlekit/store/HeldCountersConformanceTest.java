package io.throttlekit.store;

import io.throttlekit.ManualTime;

class HeldCountersConformanceTest extends CounterStoreConformance {

  @Override
  protected CounterStore open(ManualTime clock) {
    return new KeptElsewhere(clock);
  }

  @Override
  protected boolean knowsCalls() {
    return false; // the caller does
  }
}
