package io.throttlekit.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.bench.command.Bounds;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TallyTest {
  private final long start = Long.sum(Long.MAX_VALUE, -1_000); // a clock may overflow

  private final Tally tally = new Tally(start, Bounds.lasting(Duration.ofSeconds(2)));

  @Test
  void countsAdmittedRefusedAndFailedApart() {
    tally.answered(start, start + 5, reply(Code.OK));
    tally.answered(start, start + 5, reply(Code.OVER_LIMIT));
    tally.answered(start, start + 5, reply(Code.OVER_LIMIT));
    tally.failed();
    LoadResult result = tally.result(start + 10);
    assertThat(result.answers()).isEqualTo(3);
    assertThat(result.refused()).isEqualTo(2);
    assertThat(result.failed()).isEqualTo(1);
    assertThat(result.elapsedNanos()).isEqualTo(10);
  }

  @Test
  void measuresLatencyFromTheIntendedStart() {
    long second = 1_000_000_000L;
    tally.answered(start, start + second, reply(Code.OK));
    assertThat(tally.result(start + second).millisAt(99)).isBetween(999.0, 1_001.0);
  }

  @Test
  void putsEveryAnswerIntoItsSecond() {
    tally.answered(start, start + 999_999_999L, reply(Code.OK));
    tally.answered(start, start + 1_000_000_000L, reply(Code.OK));
    tally.answered(start, start + 9_000_000_000L, reply(Code.OK));
    assertThat(tally.result(start + 10).answersPerSecond()).containsExactly(1L, 1L, 0L, 0L);
  }

  private static byte[] reply(Code code) {
    return RateLimitResponse.newBuilder().setOverallCode(code).build().toByteArray();
  }
}
