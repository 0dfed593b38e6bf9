package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.TenantTerms;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The permits are those of several tenants. */
class TenantLimiterStressTest {
  private static final int STEPS = 10_000;
  private static final int LIMIT = 7;
  private static final int TENANTS = 9;

  private final LimiterStress stress =
      new LimiterStress(
          AdaptiveLimiter.of(TestLimits.fixed(LIMIT))
              .queueing(Queueing.of(1, 2))
              .tenants(new TenantTerms(FairTerms.ALL / 2, 4, 1_000_000))
              .build());

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 20_261_126})
  void requestsAreNotifiedOnceAndNoPermitIsLost(long seed) throws Exception {
    stress.run(seed, STEPS, this::request);
    assertThat(stress.limiter.figures()).isEqualTo(new LimiterFigures(LIMIT, 0, 0, 0));
    assertThat(stress.notified.sum() + stress.cancelled.sum()).isEqualTo(stress.requested.sum());
    assertThat(stress.live).hasValue(0);
    assertThat(stress.maxLive).hasValue(LIMIT);
    for (int i = 0; i < TENANTS; i++) {
      assertThat(Objects.requireNonNull(stress.limiter.figures(tenant(i))).inFlight()).isZero();
    }
    assertThat(Objects.requireNonNull(stress.limiter.shareFigures()).borrowed()).isZero();
  }

  private PermitRequest request(RandomGenerator random) {
    return new PermitRequest(0, null, Queueing.NO_TIMEOUT, tenant(random.nextInt(TENANTS)));
  }

  /** Tenants 6 to 8 have no listed weight, and the weight of tenant 0 changes. */
  private PermitTenant tenant(int number) {
    return new PermitTenant(
        "t" + number,
        number >= 6
            ? TenantWeight.unlisted(1)
            : TenantWeight.listed(number == 0 ? 1 + stress.live.get() % 3 : number));
  }
}
