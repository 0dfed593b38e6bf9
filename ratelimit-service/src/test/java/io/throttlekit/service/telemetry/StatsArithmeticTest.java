package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each case has the statistics that envoyproxy/ratelimit counts for the same charges. */
class StatsArithmeticTest {
  private static final String POLICIES =
      """
      domain: x
      descriptors:
        - {key: ten, rate_limit: {unit: day, requests_per_unit: 10}}
        - {key: twenty, rate_limit: {unit: day, requests_per_unit: 20}}
        - {key: eight, rate_limit: {unit: day, requests_per_unit: 8}}
        - {key: sh, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 1}}
      """;

  private final MetricsFixture fixture = MetricsFixture.of(POLICIES);

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void hitsBelowTheThresholdAreWithinTheLimit() {
    fixture.admit(7, 10, 3, "x", "ten", "a");

    assertThat(lines("ten")).containsExactly("total_hits: 7", "within_limit: 7");
  }

  @Test
  void hitsFromTheThresholdOnAreNear() {
    fixture.admit(16, 20, 4, "x", "twenty", "a");
    fixture.admit(3, 20, 1, "x", "twenty", "a");

    assertThat(lines("twenty"))
        .containsExactly("near_limit: 3", "total_hits: 19", "within_limit: 19");
  }

  @Test
  void anAdmittedChargeAcrossTheThresholdIsNearInPart() {
    fixture.admit(5, 8, 3, "x", "eight", "a");
    fixture.admit(2, 8, 1, "x", "eight", "a");

    assertThat(lines("eight")).containsExactly("near_limit: 1", "total_hits: 7", "within_limit: 7");
  }

  @Test
  void aChargedRefusalAcrossTheLimitIsOverInPartAndNearInPart() {
    fixture.admit(15, 20, 5, "x", "twenty", "a");
    fixture.refuse(7, 20, -2, "x", "twenty", "a");

    assertThat(lines("twenty"))
        .containsExactly("near_limit: 4", "over_limit: 2", "total_hits: 22", "within_limit: 15");
  }

  @Test
  void aChargedRefusalBeyondTheLimitIsCompletelyOver() {
    fixture.refuse(7, 20, -9, "x", "twenty", "a");

    assertThat(lines("twenty")).containsExactly("over_limit: 7", "total_hits: 7");
  }

  @Test
  void anUnchargedRefusalIsCompletelyOver() {
    fixture.refuse(7, 20, 5, "x", "twenty", "a");

    assertThat(lines("twenty")).containsExactly("over_limit: 7", "total_hits: 7");
  }

  @Test
  void aRefusalInShadowModeCountsOverLimitHitsAsShadow() {
    fixture.refuse(3, 1, -2, "x", "sh", "a");

    assertThat(lines("sh"))
        .containsExactly("near_limit: 1", "over_limit: 2", "shadow_mode: 2", "total_hits: 3");
  }

  @Test
  void peeksAndRefundsAddNoHits() {
    fixture.admit(0, 10, 10, "x", "ten", "a");
    fixture.admit(-5, 10, 10, "x", "ten", "a");

    assertThat(lines("ten")).isEmpty();
  }

  private List<String> lines(String key) {
    String prefix = "ratelimit.service.rate_limit.x." + key + ".";
    return StatsLines.of(fixture.metrics).stream()
        .filter(line -> line.startsWith(prefix))
        .map(line -> line.substring(prefix.length()))
        .toList();
  }
}
