package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IncarnationTest {
  private static final int LIMIT = 10;

  private final Incarnation incarnation = new Incarnation(Membership.of("k", "a"), 1);

  @Test
  void aLimitIsPublishedSoonIfTheCoordinatorHasAnotherOne() {
    assertThat(incarnation.granted(grant(false), new Publication(1, LIMIT))).isFalse();
    assertThat(incarnation.granted(grant(false), new Publication(1, LIMIT + 1))).isTrue();
    assertThat(incarnation.granted(grant(false), null)).as("another node steers").isFalse();
  }

  @Test
  void aCallForFrequentHeartbeatsIsPublishedSoonAndSoIsItsEnd() {
    assertThat(incarnation.granted(grant(false), new Publication(1, LIMIT, true))).isTrue();
    assertThat(incarnation.granted(grant(true), new Publication(1, LIMIT, true))).isFalse();
    assertThat(incarnation.granted(grant(true), new Publication(1, LIMIT, false))).isTrue();
  }

  private static ShareGrant grant(boolean frequent) {
    return new ShareGrant(
        Status.MEMBER, 1, LIMIT, LIMIT, 2, 0, "a", 1, frequent, false, List.of(), List.of());
  }

  @Test
  void onlyAnIncarnationWithSamplesHasAVote() {
    List<Long> latencies = List.of(1_000_000L);
    assertThat(beat(null).sampled()).isFalse();
    assertThat(
            beat(new SampleDigest(0, 0, 5, 1, true, RequestStatistics.NONE, List.of())).sampled())
        .as("refusals")
        .isFalse();
    assertThat(
            beat(new SampleDigest(3, 0, 0, 1, false, RequestStatistics.NONE, latencies)).sampled())
        .isTrue();
    assertThat(
            beat(new SampleDigest(0, 3, 0, 1, false, RequestStatistics.NONE, List.of())).sampled())
        .isTrue();
    assertThat(
            beat(new SampleDigest(3, 3, 0, 1, false, RequestStatistics.NONE, latencies)).sampled())
        .isTrue();
  }

  private Heartbeat beat(@Nullable SampleDigest digest) {
    return incarnation.heartbeat(8, 0, 0, 0, digest);
  }
}
