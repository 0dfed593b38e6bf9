package io.throttlekit.store;

import io.throttlekit.ManualTime;

class HeldCountersConformanceTest extends CounterStoreConformance {

  @Override
  protected CounterStore open(ManualTime clock) {
    return new HeldCounterStore(clock);
  }

  @Override
  protected boolean supportsCallIds() {
    return false; // the caller does
  }
}
