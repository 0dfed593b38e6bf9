package io.throttlekit.store;

import io.throttlekit.ManualTime;

class InMemoryStoreConformanceTest extends CounterStoreConformance {

  @Override
  protected CounterStore open(ManualTime clock) {
    return new InMemoryStore(clock, 10_000_000);
  }
}
