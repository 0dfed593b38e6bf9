package io.throttlekit.share;

import io.throttlekit.ManualTime;

class InMemoryReleaseExchangeTest extends ReleaseExchangeConformance {
  private final ManualTime time = new ManualTime(1_000_000);

  @Override
  protected ReleaseExchange open() {
    return new InMemoryReleaseExchange(time);
  }

  @Override
  protected void advance(long millis) {
    time.advance(millis);
  }
}
