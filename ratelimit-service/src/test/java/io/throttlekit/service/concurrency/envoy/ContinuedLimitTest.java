package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.envoy.replicas.SteeringRecord.Learned;
import io.throttlekit.service.concurrency.sensors.Readings;
import io.throttlekit.service.server.Book;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A limit that continues what another replica has learned. */
class ContinuedLimitTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;

  /** Six times the baseline of the other replica. */
  @Test
  void aQueueOfTheBeginningIsNoBaseline() {
    assertThat(leastOfTenSaturatedSeconds(new Learned(60, 100 * MILLI))).isLessThan(60);
    assertThat(leastOfTenSaturatedSeconds(new Learned(60, 0)))
        .as("without a baseline")
        .isEqualTo(60);
  }

  @Test
  void theBaselineIsPassedOn() {
    assertThat(limit(new Learned(60, 20 * MILLI)).learned()).isEqualTo(new Learned(60, 20 * MILLI));
  }

  private static int leastOfTenSaturatedSeconds(Learned learned) {
    SharedLimit limit = limit(learned);
    int least = Integer.MAX_VALUE;
    for (int second = 1; second <= 10; second++) {
      long now = second * SECOND;
      limit.reported("a", 1, Readings.load(60, 100), now);
      for (int i = 0; i < 100; i++) {
        limit.ended("a", Readings.answered(600 * MILLI), now - 600 * MILLI, now);
      }
      for (int i = 0; i < 3; i++) {
        limit.ended("a", Readings.REFUSED, now, now);
      }
      int offered = limit.offer(now);
      limit.acknowledged(offered, now);
      least = Math.min(least, offered);
    }
    return least;
  }

  private static SharedLimit limit(Learned learned) {
    Rule rule =
        Book.of(
                """
                domain: shop
                descriptors:
                  - {key: up, concurrency: {gate: envoy, cluster: up, min: 4, max: 60}}
                """)
            .rules()
            .getFirst();
    return new SharedLimit(
        rule, Objects.requireNonNull(rule.concurrency()), ConcurrencyListener.NONE, learned, 0);
  }
}
