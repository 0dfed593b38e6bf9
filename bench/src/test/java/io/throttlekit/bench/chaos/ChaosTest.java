package io.throttlekit.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.postgres.RealPostgres;
import io.throttlekit.redis.RealRedis;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A minute of the campaign, and five with the profile {@code thorough}. */
@RealRedis
@RealPostgres
@Timeout(1_200)
@Tag("alone")
class ChaosTest {
  private static final long SEED = 20_261_123;

  /** Faults of a fleet; its starts and quiet times make it a minute. */
  private static final int SECONDS = Boolean.getBoolean("throttlekit.thorough") ? 300 : 36;

  @TempDir private Path folder;

  @Test
  void noFaultAdmitsBeyondALimitOrEndsAProcessOrLeavesAHealthyWindowEmpty() throws Exception {
    Campaign campaign = new Campaign(SEED, Duration.ofSeconds(SECONDS), folder);
    CampaignReport report = campaign.run(System.out);
    System.out.println(report.markdown());
    assertThat(report.overshoot()).as(report.markdown()).isZero();
    assertThat(report.problems()).as("seed %d", SEED).isEmpty();
    assertThat(report.kinds().keySet()).containsAll(ScheduleTest.KINDS);
    assertThat(report.quietWindows()).as("units of windows without faults").hasSizeGreaterThan(2);
    assertThat(report.quietWindows()).allMatch(units -> units > 0);
    assertThat(report.floodedKeys()).isGreaterThanOrEqualTo(100_000);
  }
}
