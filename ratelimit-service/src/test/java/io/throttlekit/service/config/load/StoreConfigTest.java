package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.StoreConfig;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class StoreConfigTest {

  /** An answered probe closes the breaker: the interval and a round trip have to fit in. */
  @Test
  void anOpenBreakerClosesWithin100MillisOfTheStoresRecovery() {
    StoreConfig.Breaker breaker = ConfigLoader.defaults().store().breaker();
    assertThat(breaker.probeAfter()).isLessThanOrEqualTo(Duration.ofMillis(50));
  }
}
