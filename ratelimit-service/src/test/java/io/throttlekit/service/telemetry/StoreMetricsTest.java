package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.store.StoreListeners.BackendListener;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import io.throttlekit.service.telemetry.traces.TracedValues;
import io.throttlekit.store.StoreListener.Failure;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreMetricsTest {

  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final RedisPools pools = new RedisPools();
  private final StoreTelemetry stores =
      new StoreTelemetry(
          telemetry.meter(), TracerProvider.noop().get("test"), TracedValues.PLAIN, pools);
  private final BackendListener metrics = stores.backend("store");

  @AfterEach
  void close() {
    telemetry.close();
  }

  @Test
  void countsRoundTripsTheirRequestsAndTheirTime() throws IOException {
    metrics.roundTrip(1, 400_000);
    metrics.roundTrip(7, 4_000_000);
    assertThat(scraped())
        .contains(
            "# TYPE throttlekit_store_round_trips_total counter",
            "throttlekit_store_round_trips_total 2.0",
            "throttlekit_store_requests_total 8.0",
            "# TYPE throttlekit_store_round_trip_time_seconds histogram",
            "throttlekit_store_round_trip_time_seconds_bucket{le=\"3.0E-4\"} 0",
            "throttlekit_store_round_trip_time_seconds_bucket{le=\"5.0E-4\"} 1",
            "throttlekit_store_round_trip_time_seconds_bucket{le=\"0.005\"} 2",
            "throttlekit_store_round_trip_time_seconds_count 2");
  }

  @Test
  void countsFailuresByReasonAndLossesOfData() throws IOException {
    metrics.failed(3, Failure.DEADLINE, "late");
    metrics.failed(1, Failure.LEASE_DEADLINE, "late");
    metrics.failed(1, Failure.OPEN, "breaker open");
    metrics.dataLost(0);
    assertThat(scraped())
        .contains(
            "throttlekit_store_failures_total{reason=\"timeout\"} 4.0",
            "throttlekit_store_failures_total{reason=\"error\"} 0.0",
            "throttlekit_store_failures_total{reason=\"breaker_open\"} 1.0",
            "throttlekit_store_data_losses_total 1.0");
  }

  @Test
  void reportsWhetherTheStoreIsUpAndTheBreakerOpen() throws IOException {
    assertThat(scraped())
        .contains("throttlekit_store_up 0.0", "throttlekit_store_breaker_open 0.0");
    metrics.answers(true);
    assertThat(scraped())
        .contains("throttlekit_store_up 1.0", "throttlekit_store_breaker_open 0.0");
    metrics.answers(false);
    metrics.down();
    assertThat(scraped())
        .contains("throttlekit_store_up 0.0", "throttlekit_store_breaker_open 1.0");
  }

  @Test
  void countsConnectionsToRedisLikeThePoolOfThePeer() throws IOException {
    stores.backend("coordinator").connected(); // not that of the region
    assertThat(scraped().toString())
        .as("a store that is not on Redis")
        .doesNotContain("redis_pool");
    metrics.connected();
    metrics.connected();
    metrics.disconnected();
    assertThat(scraped())
        .contains(
            "ratelimit_redis_pool_cx_active 1.0",
            "ratelimit_redis_pool_cx_total 2",
            "ratelimit_redis_pool_cx_local_close 1");
    assertThat(StatsLines.of(pools))
        .containsExactly(
            "ratelimit.redis_pool.cx_active: 1",
            "ratelimit.redis_pool.cx_local_close: 1",
            "ratelimit.redis_pool.cx_total: 2");
  }

  @Test
  void countsConnectionsToASecondRedisLikeThePerSecondPoolOfThePeer() throws IOException {
    stores.backend("per_second_store").connected();
    assertThat(scraped())
        .contains(
            "ratelimit_redis_per_second_pool_cx_active 1.0",
            "ratelimit_redis_per_second_pool_cx_total 1");
    assertThat(StatsLines.of(pools))
        .containsExactly(
            "ratelimit.redis_per_second_pool.cx_active: 1",
            "ratelimit.redis_per_second_pool.cx_total: 1");
  }

  private List<String> scraped() throws IOException {
    return Objects.requireNonNull(telemetry.scrape()).page(null).body().lines().toList();
  }
}
