package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.rls.CallListener.Failure;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EnvoyStatisticsTest {
  private final MetricsFixture fixture =
      MetricsFixture.of(
          """
          domain: d
          descriptors:
            - {key: det, detailed_metric: true, rate_limit: {unit: day, requests_per_unit: 10}}
            - key: route
              value_to_metric: true
              descriptors:
                - key: http_method
                  value_to_metric: true
                  descriptors:
                    - {key: subject_id, rate_limit: {unit: minute, requests_per_unit: 60}}
          """);

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void namesEveryLevelOfADescriptor() {
    fixture.admit(1, 60, 59, "d", "route", "draw", "http_method", "GET", "subject_id", "123");

    assertThat(StatsLines.of(fixture.metrics))
        .contains(
            "ratelimit.service.rate_limit.d.route_draw.http_method_GET.subject_id.total_hits: 1");
  }

  @Test
  void writesAddressesWithoutDots() {
    fixture.admit(1, 10, 9, "d", "det", "10.0.0.1:80|x");

    assertThat(StatsLines.of(fixture.metrics))
        .contains("ratelimit.service.rate_limit.d.det_10_0_0_1_80_x.total_hits: 1");
  }

  @Test
  void namesTheCountersOfTheService() {
    fixture.metrics.domainNotFound("nope", 1);
    fixture.metrics.failed(Failure.SERVICE);
    fixture.metrics.failed(Failure.CANCELLED);
    fixture.metrics.globalShadow();
    fixture.metrics.policiesLoaded(false);
    fixture.metrics.answered(5);

    assertThat(StatsLines.of(fixture.metrics))
        .containsExactly(
            "ratelimit.service.call.should_rate_limit.service_error: 1",
            "ratelimit.service.config_load_error: 1",
            "ratelimit.service.global_shadow_mode: 1",
            "ratelimit.service.rate_limit.nope.domain_not_found: 1",
            "ratelimit_server.ShouldRateLimit.total_requests: 1");
  }
}
