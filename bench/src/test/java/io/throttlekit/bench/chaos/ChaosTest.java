package io.throttlekit.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs five minutes of faults, only with the profile {@code thorough}; starts of fleets and quiet
 * times take additional time.
 */
@RealRedis
@RealPostgres
@Tag("alone")
@Tag("thorough")
class ChaosTest {
  private static final long SEED = 20_261_123;

  private static final int SECONDS = 300;

  @TempDir private Path folder;

  @Test
  void noFaultExceedsALimitEndsAProcessOrStarvesAHealthyWindow() throws Exception {
    Campaign campaign = new Campaign(SEED, Duration.ofSeconds(SECONDS), folder);
    CampaignReport report = campaign.run(System.out);
    System.out.println(report.markdown());
    assertThat(report.overshoot()).as(report.markdown()).isZero();
    assertThat(report.problems()).as(report.repeat()).isEmpty();
    assertThat(report.kinds().keySet()).containsAll(ScheduleTest.KINDS);
    assertThat(report.floodedKeys()).isGreaterThanOrEqualTo(100_000);
    assertThat(report.extents("hostile streams"))
        .anyMatch(extent -> !extent.endsWith(" 0 shares received"));
    assertThat(report.extents("slow readers")).anyMatch(extent -> !extent.startsWith("0 "));
    if (report.judgedWindows().isEmpty()) {
      Assumptions.abort("the machine was busy: " + report.unjudged());
    }
  }
}
