package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.TestLimits;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdaptiveLimiterStressTest {
  private static final int STEPS = 20_000;
  private static final int LIMIT = 5;
  private static final int MAX_QUEUED = 10;

  private final LimiterStress stress =
      new LimiterStress(
          AdaptiveLimiter.of(TestLimits.fixed(LIMIT)).queueing(Queueing.of(1, 2)).build());

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 20_261_122})
  void requestsAreNotifiedOnceAndPermitsAndQueueStayWithinBounds(long seed) throws Exception {
    stress.run(seed, STEPS, _ -> PermitRequest.PLAIN);
    assertThat(stress.limiter.figures()).isEqualTo(new LimiterFigures(LIMIT, 0, 0, 0));
    assertThat(stress.notified.sum() + stress.cancelled.sum()).isEqualTo(stress.requested.sum());
    assertThat(stress.live).hasValue(0);
    assertThat(stress.maxLive).hasValue(LIMIT);
    assertThat(stress.maxQueued.get()).isBetween(MAX_QUEUED / 2, MAX_QUEUED);
    assertThat(stress.cancelled.sum()).as("cancelled in time").isGreaterThan(LimiterStress.THREADS);
  }
}
