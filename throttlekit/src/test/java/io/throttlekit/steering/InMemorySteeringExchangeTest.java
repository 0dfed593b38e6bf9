package io.throttlekit.steering;

import io.throttlekit.ManualTime;

class InMemorySteeringExchangeTest extends SteeringExchangeConformance {
  @Override
  protected SteeringExchange open(ManualTime clock) {
    return new InMemorySteeringExchange(clock);
  }
}
