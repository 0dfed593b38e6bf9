package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.FIVE;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Outcome;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

@RealRedis
class RedisLargeRequestTest {
  private static final int CHARGES = 20_000;
  private static final long MAX_MICROS = 3_000_000;

  @Test
  void aRefusedRequestTakesTimeInProportionToItsCharges() {
    try (RedisProcess redis = RedisProcess.start();
        RedisCounterStore store = Stores.open(redis.url(), TimeSource.system())) {
      List<Claim> claims = new ArrayList<>();
      for (int i = 0; i < CHARGES; i++) {
        claims.add(claim(FIVE, "user" + i / 2, 3, DataLoss.REFILL));
      }
      long before = redis.cpuMicros();
      Outcome outcome = answer(store.acquire(claims));
      assertThat(redis.cpuMicros() - before).as("µs of CPU").isLessThan(MAX_MICROS);
      assertThat(outcome.admitted()).isFalse();
      assertThat(outcome.decisions().get(1).retryAfterMillis())
          .as("two of three never fit together")
          .isEqualTo(Long.MAX_VALUE);
    }
  }
}
